//! Logs, and streams to and from containers. A real server forwards them to the node; here kubelets answer, if there are any.

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use fakeserver_kinds::{
    addresses::in_url,
    conditions::find,
    core::{node, pod},
};
use fakeserver_value::status::{NamedObject, Status};
use http::StatusCode;
use serde_json::Value;

use crate::{
    store::ObjectKey,
    verbs::{Api, LogOptions, Request, Verb},
};

/// Answers as a real server does up to the request to the node, and then as a kubelet does.
pub(super) fn serve(api: &Api, request: &Request<'_>) -> Result<Response, Status> {
    let target = &request.target;
    let log_options = match target.subresource() {
        "log" => Some(LogOptions::of(request)?),
        _ => None,
    };
    let key = target.key(target.name());
    let storage = &api.backend.storage;
    let object = storage.view(|view| view.get(&key).cloned());
    let object = object.ok_or_else(|| Status::not_found(target.named(target.name())))?;
    if target.rules().is(&pod::KIND) {
        let pod = object.to_value();
        let container = match target.subresource() {
            "log" | "exec" | "attach" => chosen_container(request, &pod["spec"])?,
            _ => "",
        };
        let node = pod["spec"]["nodeName"].as_str().unwrap_or_default();
        if node.is_empty() {
            return unassigned(request);
        }
        let node_key = ObjectKey::new(node::KIND.storage().clone(), None, node);
        let Some(stored) = storage.view(|view| view.get(&node_key).cloned()) else {
            return Err(Status::not_found(NamedObject {
                resource: "nodes",
                group: "",
                name: node,
            }));
        };
        check_reachable(&stored.to_value())?;
        if let Some(kubelets) = &api.kubelet_api {
            return match (&log_options, target.subresource()) {
                (Some(options), _) => kubelets.log(api, request, &pod, container, options),
                (None, "exec" | "attach" | "portforward") => {
                    kubelets.connect(api, request, &pod, container)
                }
                _ => Err(unanswered(request)),
            };
        }
    }
    Err(unanswered(request))
}

/// Forwards a request to a pod or a service, if there are kubelets.
pub(super) async fn proxy(
    api: &Api,
    request: &Request<'_>,
    verb: Verb,
    body: Body,
) -> Result<Response, Status> {
    match &api.kubelet_api {
        Some(kubelets) => kubelets.proxy(api, request, verb, body).await,
        None => serve(api, request),
    }
}

/// Fails if the node's condition `Ready` is unknown: its kubelet does not answer.
fn check_reachable(node: &Value) -> Result<(), Status> {
    if find(&node["status"], "Ready").is_none_or(|ready| ready["status"] != "Unknown") {
        return Ok(());
    }
    let name = || node["metadata"]["name"].as_str();
    let host = node::address(node, "InternalIP").or_else(name);
    let host = in_url(host.unwrap_or_default());
    Err(Status::internal(&format!(
        "error dialing backend: dial tcp {host}:10250: connect: no route to host"
    )))
}

/// Refuses what is answered by nothing here.
pub fn unanswered(request: &Request<'_>) -> Status {
    Status::internal(&format!(
        "this server runs no containers: {}/{} has no answer",
        request.target.resource.plural,
        request.target.subresource(),
    ))
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

/// Returns the container that a request is about. It has to be named if there are several, and to be there if it is named.
fn chosen_container<'a>(request: &'a Request<'_>, spec: &'a Value) -> Result<&'a str, Status> {
    let names = |list: &str| -> Vec<&'a str> {
        let containers = spec[list].as_array().into_iter().flatten();
        let names = containers.filter_map(|container| container["name"].as_str());
        names.collect()
    };
    let (containers, init) = (names("containers"), names("initContainers"));
    let pod = request.target.name();
    match request.query.get("container").unwrap_or_default() {
        "" if containers.len() < 2 => Ok(containers.first().copied().unwrap_or_default()),
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
                return Ok(wanted);
            }
            Err(Status::bad_request(format!(
                "container {wanted} is not valid for pod {pod}"
            )))
        }
    }
}
