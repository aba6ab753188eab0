//! Logs, and streams to and from containers. A real server forwards them to the node; here no node runs containers.

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use serde_json::Value;

use crate::{
    kinds::core::{node, pod},
    store::ObjectKey,
    value::status::{Named, Status},
    verbs::{Api, Request},
};

/// Answers as a real server does up to the request to the node.
pub(super) fn serve(api: &Api, request: &Request<'_>) -> Result<Response, Status> {
    let key = request.target.key(request.target.name());
    let storage = &api.backend.storage;
    let object = storage.view(|view| view.get(&key).cloned());
    let object =
        object.ok_or_else(|| Status::not_found(request.target.named(request.target.name())))?;
    if request.target.rules().is(&pod::KIND) {
        let pod = object.to_value();
        if matches!(request.target.subresource(), "log" | "exec" | "attach") {
            check_container(request, &pod["spec"])?;
        }
        let node = pod["spec"]["nodeName"].as_str().unwrap_or_default();
        if node.is_empty() {
            return unassigned(request);
        }
        let key = ObjectKey::new(node::KIND.storage().clone(), None, node);
        if storage.view(|view| view.get(&key).is_none()) {
            return Err(Status::not_found(Named {
                resource: "nodes",
                group: "",
                name: node,
            }));
        }
    }
    Err(Status::internal(&format!(
        "this server runs no containers: {}/{} has no answer",
        request.target.resource.plural,
        request.target.subresource(),
    )))
}

/// Answers for a pod without a node: its log is empty, and no container can be reached.
fn unassigned(request: &Request<'_>) -> Result<Response, Status> {
    if request.target.subresource() == "log" {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    Err(Status::bad_request(format!(
        "pod {} does not have a host assigned",
        request.target.name()
    )))
}

/// A container has to be named if there are several, and to be there if it is named.
fn check_container(request: &Request<'_>, spec: &Value) -> Result<(), Status> {
    let names = |list: &str| -> Vec<&str> {
        let containers = spec[list].as_array().into_iter().flatten();
        let names = containers.filter_map(|container| container["name"].as_str());
        names.collect()
    };
    let (containers, init) = (names("containers"), names("initContainers"));
    let pod = request.target.name();
    match request.query.get("container").unwrap_or_default() {
        "" if containers.len() < 2 => Ok(()),
        "" => {
            let alternative = match init.join(" ") {
                none if none.is_empty() => none,
                names => format!(" or one of the init containers: [{names}]"),
            };
            Err(Status::bad_request(format!(
                "a container name must be specified for pod {pod}, choose one of: [{}]{alternative}",
                containers.join(" ")
            )))
        }
        wanted => {
            let others = names("ephemeralContainers");
            let mut all = containers.iter().chain(&init).chain(&others);
            if all.any(|name| *name == wanted) {
                return Ok(());
            }
            Err(Status::bad_request(format!(
                "container {wanted} is not valid for pod {pod}"
            )))
        }
    }
}
