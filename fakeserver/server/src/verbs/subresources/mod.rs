//! Subresources other than views of the object itself.
//!
//! `status`, `finalize`, `approval`, `resize` and `ephemeralcontainers` are not here: they are the object itself, of
//! which each endpoint writes one part.

mod binding;
pub mod container;
mod eviction;
mod scale;
pub mod token;

use axum::{body::Body, response::Response};
use fakeserver_kinds::core::{self, pod, service_account};
use fakeserver_value::status::Status;

use super::{Api, Request, Verb};
use crate::{edge::request::read_body, write::Target};

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
    /// Logs, and streams to and from containers.
    Container,
    /// Requests that a pod or a service is to answer.
    Proxy,
}

// === impl Subresource ===

impl Subresource {
    /// The one that a request is about, if it is one of these.
    pub(super) fn of(target: &Target) -> Option<Self> {
        let kind = target.rules();
        match target.subresource() {
            "" if kind.is(&core::binding::KIND) => Some(Self::Binding),
            "scale" => Some(Self::Scale),
            "binding" if kind.is(&pod::KIND) => Some(Self::Binding),
            "eviction" if kind.is(&pod::KIND) => Some(Self::Eviction),
            "token" if kind.is(&service_account::KIND) => Some(Self::Token),
            "log" | "exec" | "attach" | "portforward" => Some(Self::Container),
            "proxy" => Some(Self::Proxy),
            _ => None,
        }
    }

    /// Answers a request with a verb of the subresource.
    pub(super) async fn serve(
        self,
        api: &Api,
        request: &Request<'_>,
        verb: Verb,
        body: Body,
    ) -> Result<Response, Status> {
        if self == Self::Proxy {
            return container::proxy(api, request, verb, body).await;
        }
        let body = &*read_body(body).await?;
        match (self, verb) {
            (Self::Scale, Verb::Get) => scale::get(api, request).await,
            (Self::Scale, Verb::Update) => scale::update(api, request, body).await,
            (Self::Scale, Verb::Patch) => scale::patch(api, request, body).await,
            (Self::Binding, Verb::Create) => binding::create(api, request, body).await,
            (Self::Eviction, Verb::Create) => eviction::create(api, request, body).await,
            (Self::Token, Verb::Create) => token::create(api, request, body).await,
            (Self::Container, _) => container::serve(api, request),
            _ => Err(Status::method_not_allowed()),
        }
    }
}
