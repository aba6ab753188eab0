//! Requests that the server of an API answers.

use std::sync::Arc;

use axum::{body::Body, response::Response};
use fakeserver_value::user::UserInfo;
use http::{HeaderMap, HeaderName, HeaderValue, Request, StatusCode, header, request::Parts};
use tokio::time::timeout;

use super::{
    super::{
        assembly::Server,
        audit::AuditId,
        router::plain,
        websocket::{Tunnel, Upgradable},
    },
    CONNECT_LIMIT, Served,
    connection::Line,
    facts::Facts,
};
use crate::{
    edge::{
        authentication::spoken_protocols,
        forwarding::passed,
        request::{ApiPath, Query, REQUEST_LIMIT},
        response::timed_out,
    },
    verbs::{Asked, Requester, Verb, pass_on},
    write::webhook::Trust,
};

/// The beginnings of the names of headers that say who asks. Only this server may say so.
const OF_USERS: [&str; 2] = ["x-remote-", "impersonate-"];
/// The beginning of the names of headers that each server puts on its own answers.
const OF_FLOWS: &str = "x-kubernetes-pf-";

/// Forwards an authenticated request to the server of an API, and answers with its answer.
///
/// # Cancel safety
///
/// If dropped, the connection with the other server is closed, which may have received the request.
pub(in super::super) async fn forward(
    server: &Arc<Server>,
    parts: &Parts,
    query: &Query,
    requester: &Requester,
    body: Body,
    target: &Served,
) -> Response {
    if let Some(refused) = requester.refusal(&parts.headers) {
        return refused;
    }
    let asked = Asked::new(&server.api, requester, parts);
    if let Err(answer) = pass_on(&asked, &ApiPath::parse(parts.uri.path()), query).await {
        return answer;
    }
    if !target.is_available {
        return unavailable();
    }
    let api = &*target.api;
    let backend = server.backend();
    let facts = Facts::read(backend, &api.service);
    let Ok(addresses) = facts.addresses(backend, api) else {
        return unavailable();
    };
    let trust = if api.skips_verification {
        Trust::Anyone
    } else {
        Trust::Bundle(&api.ca_bundle)
    };
    let opened = Line::open(api, &addresses, trust, CONNECT_LIMIT).await;
    let (line, driving) = match opened {
        Ok(opened) => opened,
        Err(why) => return unreachable(&why),
    };
    let stop = server.api.tasks.stop_token().clone();
    // It ends with the answer, or when nobody reads that any more.
    server.api.tasks.spawn(async move {
        stop.run_until_cancelled(driving).await;
    });
    let sending = line.send(request(parts, &requester.user, body));
    let answer = if is_long(parts, query) {
        sending.await
    } else {
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

/// Returns the request as the other server gets it: as it came, but for what says who asks.
fn request(parts: &Parts, user: &UserInfo, body: Body) -> Request<Body> {
    let mut request = Request::new(body);
    *request.method_mut() = parts.method.clone();
    let target = parts.uri.path_and_query();
    // It is a part of a target that was one.
    *request.uri_mut() = target.map_or_else(Default::default, |target| {
        target.as_str().parse().unwrap_or_default()
    });
    let headers = request.headers_mut();
    *headers = passed(&parts.headers, |name| {
        OF_USERS.iter().any(|beginning| name.starts_with(beginning))
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
    identify(headers, user);
    if parts.extensions.get::<Upgradable>().is_some() {
        upgrade(headers, &parts.headers);
    }
    request
}

/// Writes who asks.
fn identify(headers: &mut HeaderMap, user: &UserInfo) {
    let mut say = |name: &str, value: &str| {
        let name = HeaderName::try_from(name.to_lowercase());
        // Names and groups with a line break cannot be told.
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

/// Lets a request ask for a WebSocket, as its client does, without the token that may stand among its protocols.
fn upgrade(headers: &mut HeaderMap, said: &HeaderMap) {
    headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    let protocols: Vec<&str> = spoken_protocols(said).collect();
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

/// Returns whether the head of an answer may take as long as it likes.
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

/// Answers a request whose server cannot be reached, or has not answered.
fn unreachable(why: &str) -> Response {
    let message = format!("error trying to reach service: {why}\n");
    plain(StatusCode::SERVICE_UNAVAILABLE, message)
}
