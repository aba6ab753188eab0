//! Requests that the server of an API answers.

use axum::{body::Body, response::Response};
use fakeserver_value::user::UserInfo;
use http::{HeaderMap, HeaderName, HeaderValue, Request, StatusCode, header, request::Parts};
use tokio::time::timeout;

use super::{
    super::{
        audit::AuditId,
        router::plain,
        websocket::{Tunnel, UpgradeSupport},
    },
    AggregatedApi, CONNECT_LIMIT,
    connection::UpstreamConnection,
    service_endpoints::ServiceEndpoints,
};
use crate::{
    edge::{
        authentication::spoken_protocols,
        forwarding::passed,
        request::{ApiPath, Query, REQUEST_LIMIT},
        response::timed_out,
    },
    verbs::{Api, DiscoveryRequest, Requester, Verb, admit_forwarded},
    write::webhook::Trust,
};

/// The prefixes of identity headers. They are removed from the client's request: only this server may set them.
const OF_USERS: [&str; 2] = ["x-remote-", "impersonate-"];
/// The prefix of headers that each server sets on its own responses.
const OF_FLOWS: &str = "x-kubernetes-pf-";

/// Forwards an authenticated request to the server of an API, and answers with its answer.
///
/// # Cancel safety
///
/// If dropped, the connection with the other server is closed, which may have received the request.
pub(in super::super) async fn forward(
    api: &Api,
    parts: &Parts,
    query: &Query,
    requester: &Requester,
    body: Body,
    target: &AggregatedApi,
) -> Response {
    // Authorized here and by the other server: this one must not forward what it would reject.
    if let Some(refused) = requester.refusal(&parts.headers) {
        return refused;
    }
    let discovery_request = DiscoveryRequest::new(api, requester, parts);
    if let Err(answer) =
        admit_forwarded(&discovery_request, &ApiPath::parse(parts.uri.path()), query).await
    {
        return answer;
    }
    // After the faults: an unavailable API is part of what a fault can hide.
    if !target.is_available {
        return unavailable();
    }
    let remote = &*target.api;
    let endpoints = ServiceEndpoints::read(&api.backend, &remote.service);
    let Ok(addresses) = endpoints.addresses(&api.backend, remote) else {
        return unavailable();
    };
    let trust = if remote.skips_verification {
        Trust::Anyone
    } else {
        Trust::Bundle(&remote.ca_bundle)
    };
    let opened = UpstreamConnection::open(remote, &addresses, trust, CONNECT_LIMIT).await;
    let (connection, driver) = match opened {
        Ok(opened) => opened,
        Err(why) => return unreachable(&why),
    };
    let stop = api.tasks.stop_token().clone();
    // The task ends with the response, or when the client stops reading it.
    api.tasks.spawn(async move {
        stop.run_until_cancelled(driver).await;
    });
    let sending = connection.send(request(parts, &requester.user, body));
    let answer = if is_long(parts, query) {
        sending.await
    } else {
        // The limit is for the head: the body streams for as long as the client reads.
        match timeout(REQUEST_LIMIT, sending).await {
            Ok(answer) => answer,
            Err(_) => return timed_out(),
        }
    };
    match answer {
        Ok(answer) => answered(answer),
        Err(why) => unreachable(&why),
    }
}

/// Returns the forwarded request: the client's, with the identity headers replaced.
fn request(parts: &Parts, user: &UserInfo, body: Body) -> Request<Body> {
    let mut request = Request::new(body);
    *request.method_mut() = parts.method.clone();
    let target = parts.uri.path_and_query();
    // The path and query of a valid target are a valid target.
    *request.uri_mut() = target.map_or_else(Default::default, |target| {
        target.as_str().parse().unwrap_or_default()
    });
    let headers = request.headers_mut();
    *headers = passed(&parts.headers, |name| {
        OF_USERS.iter().any(|prefix| name.starts_with(prefix))
    });
    if let Some(host) = parts.headers.get(header::HOST) {
        headers.insert("x-forwarded-host", host.clone());
    }
    if let Ok(uri) = HeaderValue::try_from(parts.uri.path()) {
        headers.insert("x-forwarded-uri", uri);
    }
    if let Some(AuditId(id)) = parts.extensions.get() {
        headers.insert("audit-id", id.clone());
    }
    // After the client's headers, of which forged identities were removed.
    identify(headers, user);
    if parts.extensions.get::<UpgradeSupport>().is_some() {
        upgrade(headers, &parts.headers);
    }
    request
}

/// Sets the identity headers of the requester.
fn identify(headers: &mut HeaderMap, user: &UserInfo) {
    let mut say = |name: &str, value: &str| {
        let name = HeaderName::try_from(name.to_lowercase());
        // Values with a line break are invalid in a header, and left out.
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_bytes(value.as_bytes())) {
            headers.append(name, value);
        }
    };
    say("x-remote-user", user.name());
    if !user.uid().is_empty() {
        say("x-remote-uid", user.uid());
    }
    for group in user.groups() {
        say("x-remote-group", group);
    }
    for (key, values) in user.extra() {
        let name = format!("x-remote-extra-{}", escaped(key));
        for value in values {
            say(&name, value);
        }
    }
}

/// Returns the key of a user's extra field as a part of a header's name: other bytes than those that may be there are percent
/// escaped.
fn escaped(key: &str) -> String {
    use std::fmt::Write as _;

    let mut escaped = String::new();
    for byte in key.bytes() {
        if byte.is_ascii_alphanumeric() || b"!#$&'*+-.^_`|~".contains(&byte) {
            escaped.push(char::from(byte));
        } else {
            let _ = write!(escaped, "%{byte:02X}");
        }
    }
    escaped
}

/// Adds the upgrade headers of the client, without the token that its subprotocols may contain.
fn upgrade(headers: &mut HeaderMap, client_headers: &HeaderMap) {
    headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    let protocols: Vec<&str> = spoken_protocols(client_headers).collect();
    headers.remove(header::SEC_WEBSOCKET_PROTOCOL);
    if let Ok(protocols) = HeaderValue::try_from(protocols.join(", "))
        && !protocols.is_empty()
    {
        headers.insert(header::SEC_WEBSOCKET_PROTOCOL, protocols);
    }
}

/// Returns the answer of the other server as the client gets it.
fn answered(mut answer: Response) -> Response {
    if answer.status() == StatusCode::SWITCHING_PROTOCOLS {
        let tunnel = Tunnel::of(&mut answer);
        answer.extensions_mut().insert(tunnel);
        return answer;
    }
    let headers = passed(answer.headers(), |name| name.starts_with(OF_FLOWS));
    *answer.headers_mut() = headers;
    answer
}

/// Returns whether the request is long-running, so that its response has no time limit.
fn is_long(parts: &Parts, query: &Query) -> bool {
    match ApiPath::parse(parts.uri.path()) {
        ApiPath::Resource(path) => Verb::of(&parts.method, &path, query) == Some(Verb::Watch),
        _ => false,
    }
}

/// Answers a request of an API that is not available.
fn unavailable() -> Response {
    plain(
        StatusCode::SERVICE_UNAVAILABLE,
        "service unavailable\n".to_owned(),
    )
}

/// Returns the response if the aggregated server is unreachable or has not answered.
fn unreachable(why: &str) -> Response {
    let message = format!("error trying to reach service: {why}\n");
    plain(StatusCode::SERVICE_UNAVAILABLE, message)
}
