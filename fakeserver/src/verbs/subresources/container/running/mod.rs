//! The answers of kubelets about the containers of their pods.

mod status;
mod logs;
mod sources;
mod upgrade;
mod exec;
mod forward;
mod proxy;

use axum::response::Response;
use serde_json::Value;

use self::logs::LogOptions;
pub(super) use self::proxy::serve as proxy;
use super::unanswered;
use crate::{
    containers::Containers,
    value::status::Status,
    verbs::{Api, Request},
};

/// The options of a request, as far as they are checked before the pod is looked for.
pub(super) enum Options {
    Log(LogOptions),
    Others,
}

// === impl Options ===

impl Options {
    /// Reads the options of a request.
    pub(super) fn of(request: &Request<'_>) -> Result<Self, Status> {
        Ok(match request.target.subresource() {
            "log" => Self::Log(LogOptions::of(request)?),
            _ => Self::Others,
        })
    }
}

/// Answers a request for a container of `pod`, which is on a node.
pub(super) fn serve(
    api: &Api,
    request: &Request<'_>,
    containers: &Containers,
    pod: &Value,
    container: &str,
    options: &Options,
) -> Result<Response, Status> {
    match options {
        Options::Log(options) => logs::serve(api, request, containers, pod, container, options),
        Options::Others => match request.target.subresource() {
            "exec" | "attach" => exec::serve(api, request, containers, pod, container),
            "portforward" => forward::serve(api, request, containers, pod),
            _ => Err(unanswered(request)),
        },
    }
}
