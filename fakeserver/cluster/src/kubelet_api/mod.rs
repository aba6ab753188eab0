//! The answers of kubelets about the containers of their pods.

mod status;
mod logs;
mod sources;
mod upgrade;
mod exec;
mod forward;
mod proxy;

use axum::response::Response;
use fakeserver_server::verbs::{Api, Request};
use fakeserver_value::status::Status;
use serde_json::Value;

pub(crate) use self::{logs::serve as log, proxy::serve as proxy};
use crate::containers::Containers;

/// Answers a request for a connection with `pod`, which is on a node.
pub(crate) fn connect(
    api: &Api,
    request: &Request<'_>,
    containers: &Containers,
    pod: &Value,
    container: &str,
) -> Result<Response, Status> {
    match request.target.subresource() {
        "portforward" => forward::serve(api, request, containers, pod),
        _ => exec::serve(api, request, containers, pod, container),
    }
}
