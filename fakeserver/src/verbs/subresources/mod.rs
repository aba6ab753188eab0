//! Subresources that are no view of the object itself.
//!
//! `status`, `finalize`, `approval`, `resize` and `ephemeralcontainers` are not here: they are the object, of which an
//! endpoint writes only its part.

mod binding;
mod container;
mod eviction;
mod scale;
mod token;

use axum::response::Response;

use super::{Call, Verb};
use crate::{
    kinds::core::{self, pod, service_account},
    value::status::Status,
};

/// A subresource with bodies of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subresource {
    /// The number of wanted replicas.
    Scale,
    /// A pod is put on a node.
    Binding,
    /// A pod is deleted, if its disruption budget allows it.
    Eviction,
    /// A token of a service account.
    Token,
    /// Logs, and streams to and from containers: there are no containers.
    Container,
}

// === impl Subresource ===

impl Subresource {
    /// The one that a request is about, if it is one of these.
    pub(super) fn of(call: &Call<'_>) -> Option<Self> {
        let kind = call.target.rules();
        match call.target.subresource() {
            "" if kind.is(&core::binding::KIND) => Some(Self::Binding),
            "scale" => Some(Self::Scale),
            "binding" if kind.is(&pod::KIND) => Some(Self::Binding),
            "eviction" if kind.is(&pod::KIND) => Some(Self::Eviction),
            "token" if kind.is(&service_account::KIND) => Some(Self::Token),
            "log" | "exec" | "attach" | "portforward" | "proxy" => Some(Self::Container),
            _ => None,
        }
    }

    /// Answers a request whose verb the subresource has.
    pub(super) async fn serve(
        self,
        call: &Call<'_>,
        verb: Verb,
        body: &[u8],
    ) -> Result<Response, Status> {
        match (self, verb) {
            (Self::Scale, Verb::Get) => scale::get(call).await,
            (Self::Scale, Verb::Update) => scale::update(call, body).await,
            (Self::Scale, Verb::Patch) => scale::patch(call, body).await,
            (Self::Binding, Verb::Create) => binding::create(call, body).await,
            (Self::Eviction, Verb::Create) => eviction::create(call, body).await,
            (Self::Token, Verb::Create) => token::create(call, body).await,
            (Self::Container, _) => container::serve(call),
            _ => Err(Status::method_not_allowed()),
        }
    }
}
