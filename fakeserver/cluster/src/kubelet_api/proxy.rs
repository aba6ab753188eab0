//! `proxy` of pods and services: one HTTP request, forwarded to the address that stands for the pod.

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use fakeserver_kinds::{
    Kind,
    core::{endpoints, pod, service},
};
use fakeserver_server::{
    edge::forwarding::passed,
    store::ObjectKey,
    verbs::subresources::container::unanswered,
    verbs::{Api, Request, Verb},
};
use fakeserver_value::{read::items, status::Status};
use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

use crate::containers::Containers;

/// The number of slashes before the path that is forwarded.
const SLASHES: usize = 8;

/// A pod or service, and the port of it.
#[derive(Debug)]
struct ProxyTarget<'a> {
    name: &'a str,
    /// A number or a name; empty for any.
    port: &'a str,
}

/// Forwards a request, and answers with the answer to it.
pub(crate) async fn serve(
    api: &Api,
    request: &Request<'_>,
    verb: Verb,
    containers: &Containers,
    body: Body,
) -> Result<Response, Status> {
    let target = &request.target;
    let name = target.name();
    let pod = if target.rules().is(&pod::KIND) {
        find_pod(api, request, &named(name, "pod")?)?
    } else if target.rules().is(&service::KIND) {
        find_pod_of_service(api, request, &named(name, "service")?)?
    } else {
        return Err(unanswered(request));
    };
    let path = request.uri.path();
    let Some(rest) = path.splitn(SLASHES + 1, '/').nth(SLASHES) else {
        return Ok(redirect(&request.uri));
    };
    let prefix = path[..path.len() - rest.len()].trim_end_matches('/');
    let address = containers.address(&pod).map_err(|why| unreachable(&why))?;
    let mut forwarded = http::Request::new(body);
    *forwarded.method_mut() = method(verb);
    *forwarded.uri_mut() = forwarded_uri(&request.uri, rest);
    *forwarded.headers_mut() = passed(request.headers, |_| false);
    let host = HeaderValue::try_from(&address).map_err(|error| unreachable(&error.to_string()))?;
    forwarded.headers_mut().insert(header::HOST, host);
    if let Ok(uri) = HeaderValue::try_from(path) {
        forwarded.headers_mut().insert("x-forwarded-uri", uri);
    }
    let stream = TcpStream::connect(&*address).await;
    let stream = stream.map_err(|error| unreachable(&format!("dial tcp {address}: {error}")))?;
    let handshake = http1::handshake(TokioIo::new(stream)).await;
    let (mut sender, connection) = handshake.map_err(|error| unreachable(&error.to_string()))?;
    let stop = api.tasks.stop_token().clone();
    // The task ends with the answer, or when the client stops reading it.
    api.tasks.spawn(async move {
        stop.run_until_cancelled(connection).await;
    });
    let answer = sender.send_request(forwarded).await;
    let answer = answer.map_err(|error| unreachable(&error.to_string()))?;
    let (head, body) = answer.into_parts();
    let mut response = Response::new(Body::new(body));
    *response.status_mut() = head.status;
    *response.headers_mut() = passed(&head.headers, |_| false);
    relocate(response.headers_mut(), prefix);
    Ok(response)
}

/// Finds the pod of that name.
fn find_pod(api: &Api, request: &Request<'_>, place: &ProxyTarget<'_>) -> Result<Value, Status> {
    let key = request.target.key(place.name);
    let pod = api.backend.storage.view(|view| view.get(&key).cloned());
    let pod = pod.ok_or_else(|| Status::not_found(request.target.named(place.name)))?;
    Ok(pod.to_value())
}

/// Finds a ready pod of the service of that name, by its endpoints.
fn find_pod_of_service(
    api: &Api,
    request: &Request<'_>,
    place: &ProxyTarget<'_>,
) -> Result<Value, Status> {
    let get = |key: &ObjectKey| {
        let object = api.backend.storage.view(|view| view.get(key).cloned())?;
        Some(object.to_value())
    };
    let (key, name) = (request.target.key(place.name), place.name);
    let service = get(&key).ok_or_else(|| Status::not_found(request.target.named(name)))?;
    let none =
        || Status::service_unavailable(format!("no endpoints available for service {name:?}"));
    let mut ports = items(&service["spec"]["ports"]).iter();
    match place.port.parse::<i64>() {
        Ok(number) if !ports.any(|port| port["port"] == number) => {
            return Err(Status::service_unavailable(format!(
                "no service port {number} found for service {name:?}"
            )));
        }
        Err(_) if !place.port.is_empty() && !ports.any(|port| port["name"] == place.port) => {
            return Err(none());
        }
        _ => {}
    }
    let beside = |kind: &Kind, name: &str| {
        get(&ObjectKey::new(
            kind.storage().clone(),
            key.namespace(),
            name,
        ))
    };
    let endpoints = beside(&endpoints::KIND, name).ok_or_else(none)?;
    let mut addresses = items(&endpoints["subsets"])
        .iter()
        .flat_map(|subset| items(&subset["addresses"]));
    let pod =
        addresses.find_map(|address| beside(&pod::KIND, address["targetRef"]["name"].as_str()?));
    pod.ok_or_else(none)
}

/// Takes `name`, `name:port` or `scheme:name:port` apart.
fn named<'a>(text: &'a str, kind: &str) -> Result<ProxyTarget<'a>, Status> {
    let parts: Vec<&str> = text.split(':').collect();
    let place = match parts[..] {
        [name] => Some(ProxyTarget { name, port: "" }),
        [name, port] | ["" | "http", name, port] => Some(ProxyTarget { name, port }),
        _ => None,
    };
    let place = place.filter(|place| !place.name.is_empty());
    place.ok_or_else(|| Status::bad_request(format!("invalid {kind} request {text:?}")))
}

/// Returns the method of a request with this verb.
fn method(verb: Verb) -> Method {
    match verb {
        Verb::Get | Verb::List | Verb::Watch => Method::GET,
        Verb::Create => Method::POST,
        Verb::Update => Method::PUT,
        Verb::Patch => Method::PATCH,
        Verb::Delete | Verb::DeleteCollection => Method::DELETE,
    }
}

/// Refuses a request because of the address that stands for the pod.
fn unreachable(why: &str) -> Status {
    Status::service_unavailable(format!("error trying to reach service: {why}"))
}

/// Sends a client from a folder without a slash to one with it, so that links in its documents work.
fn redirect(uri: &Uri) -> Response {
    let query = uri.query().map(|query| format!("?{query}"));
    let to = format!("{}/{}", uri.path(), query.unwrap_or_default());
    (StatusCode::MOVED_PERMANENTLY, [(header::LOCATION, to)]).into_response()
}

/// Returns the target of a forwarded request.
fn forwarded_uri(uri: &Uri, path: &str) -> Uri {
    let target = match uri.query() {
        Some(query) => format!("/{path}?{query}"),
        None => format!("/{path}"),
    };
    // The text is a part of a valid path, so that it parses.
    target.parse().unwrap_or_default()
}

/// Lets a redirection of the pod lead to the pod through the proxy.
fn relocate(headers: &mut HeaderMap, prefix: &str) {
    let location = headers
        .get(header::LOCATION)
        .and_then(|to| to.to_str().ok());
    let Some(path) = location.filter(|to| to.starts_with('/')) else {
        return;
    };
    if let Ok(to) = HeaderValue::try_from(format!("{prefix}{path}")) {
        headers.insert(header::LOCATION, to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pod_is_named_with_or_without_a_port() {
        let place = |text| named(text, "pod").map(|place| (place.name, place.port));
        assert_eq!(place("p").unwrap(), ("p", ""));
        assert_eq!(place("p:80").unwrap(), ("p", "80"));
        assert_eq!(place("http:p:web").unwrap(), ("p", "web"));
        for wrong in ["", ":80", "ftp:p:80", "https:p:80", "a:b:c:d"] {
            let status = place(wrong).unwrap_err();
            assert_eq!(status.message, format!("invalid pod request {wrong:?}"));
        }
    }

    #[test]
    fn redirections_stay_within_the_proxy() {
        let located = |to: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::LOCATION, to.parse().unwrap());
            relocate(&mut headers, "/api/v1/namespaces/n/pods/p/proxy");
            headers[header::LOCATION].to_str().unwrap().to_owned()
        };
        assert_eq!(located("/login"), "/api/v1/namespaces/n/pods/p/proxy/login");
        assert_eq!(located("login"), "login");
        assert_eq!(located("http://elsewhere/"), "http://elsewhere/");
    }
}
