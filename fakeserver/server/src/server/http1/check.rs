//! The checks of a request that Go's server makes before any handler, and the parts of its head that the library left out.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use axum::{
    body::Body,
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use http::{HeaderMap, HeaderValue, Method, StatusCode, Version, header};
use http_body::Body as _;
use hyper::ext::ReasonPhrase;
use tokio_util::sync::WaitForCancellationFutureOwned;
use tracing::debug;

use super::heads::{HeadRest, Heads};
use crate::{
    edge::request::LongQuery,
    server::{
        activity::Activity,
        in_flight,
        observed_body::{BodyObserver, PolledFrame, observe},
    },
};

/// Ends a body that waits for news once the client has closed its half of the connection.
struct EndOnHalfClose(Pin<Box<WaitForCancellationFutureOwned>>);

/// Refuses requests that Go's server refuses, and completes the others.
pub(in crate::server) async fn check(
    State((heads, activity)): State<(Heads, Activity)>,
    mut request: Request,
    next: Next,
) -> Response {
    if request.version() >= Version::HTTP_2 {
        return next.run(request).await;
    }
    let rest = heads.pop().unwrap_or_default();
    if let Some((code, why)) = refusal(&request, &rest) {
        debug!(%code, why, "request refused");
        return refuse(code, why);
    }
    for (name, value) in rest.headers {
        if request.headers_mut().try_append(name, value).is_err() {
            return refuse(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "");
        }
    }
    if let Some(query) = rest.query {
        request.extensions_mut().insert(LongQuery(query.into()));
    }
    let (method, uri) = (request.method().clone(), request.uri().clone());
    let long = request.extensions().get::<LongQuery>().cloned();
    let response = next.run(request).await;
    let is_whole = response.body().size_hint().exact().is_some();
    let query = long.as_ref().map(|long| &*long.0).or(uri.query());
    if is_whole || !in_flight::is_long_running(&method, uri.path(), query) {
        return response;
    }
    let half_closed = Box::pin(activity.half_closed().cancelled_owned());
    response.map(|body| observe(body, EndOnHalfClose(half_closed)))
}

/// Returns how Go's server refuses a request.
fn refusal(request: &Request, rest: &HeadRest) -> Option<(StatusCode, &'static str)> {
    let headers = request.headers();
    if rest.is_too_large {
        return Some((StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, ""));
    }
    if rest.has_foreign_encoding {
        return Some((StatusCode::NOT_IMPLEMENTED, "Unsupported transfer encoding"));
    }
    let needs_host = request.version() == Version::HTTP_11 && request.method() != Method::CONNECT;
    let bad = |why| Some((StatusCode::BAD_REQUEST, why));
    let mut hosts = headers.get_all(header::HOST).iter();
    match (hosts.next(), hosts.next()) {
        (None, _) if needs_host => return bad("missing required Host header"),
        (Some(_), Some(_)) => return bad("too many Host headers"),
        (Some(host), None) if !host.as_bytes().iter().copied().all(is_of_host) => {
            return bad("malformed Host header");
        }
        _ => {}
    }
    has_unknown_expectation(headers).then_some((StatusCode::EXPECTATION_FAILED, ""))
}

/// Returns true if a byte can stand in the name of a host, or in its address.
fn is_of_host(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!$%&'()*+,-.:;=[]_~".contains(&byte)
}

fn has_unknown_expectation(headers: &HeaderMap) -> bool {
    let Some(expectation) = headers.get(header::EXPECT) else {
        return false;
    };
    let tokens = expectation.as_bytes().split(|byte| *byte == b',');
    let is_continue = |token: &[u8]| token.trim_ascii().eq_ignore_ascii_case(b"100-continue");
    !expectation.is_empty() && !tokens.into_iter().any(is_continue)
}

/// Answers as Go's server does, and closes the connection: what follows may not be a request.
fn refuse(code: StatusCode, why: &'static str) -> Response {
    let text = match code {
        StatusCode::EXPECTATION_FAILED => String::new(),
        StatusCode::NOT_IMPLEMENTED => why.to_owned(),
        StatusCode::BAD_REQUEST => format!("{code}: {why}"),
        _ => code.to_string(),
    };
    let mut response = (code, text).into_response();
    if code == StatusCode::BAD_REQUEST {
        let reason = format!("Bad Request: {why}").into_bytes();
        if let Ok(reason) = ReasonPhrase::try_from(reason) {
            response.extensions_mut().insert(reason);
        }
    }
    let close = HeaderValue::from_static("close");
    response.headers_mut().insert(header::CONNECTION, close);
    response
}

// === impl EndOnHalfClose ===

impl BodyObserver for EndOnHalfClose {
    fn poll_frame(&mut self, body: &mut Body, context: &mut Context<'_>) -> PolledFrame {
        let polled = Pin::new(body).poll_frame(context);
        if polled.is_pending() && self.0.as_mut().poll(context).is_ready() {
            return Poll::Ready(None);
        }
        polled
    }
}
