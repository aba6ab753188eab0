//! The limit of requests in flight: further requests are answered with 429.

use std::{
    io,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
};

use axum::{
    body::Body,
    extract::Request,
    middleware::Next,
    response::{IntoResponse, Response},
};
use fakeserver_value::resource_path::ResourcePath;
use http::{HeaderValue, Method, StatusCode, header};
use http_body::Body as _;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::{
    concurrency_limit::{ConcurrencyLimit, Slot},
    observed_body::{BodyObserver, PolledFrame, observe},
};
use crate::{
    edge::request::{ApiPath, Query, REQUEST_LIMIT, query_text},
    task::TaskSet,
    verbs::Verb,
};

/// The slot of a request whose response is being sent.
struct HeldSlot {
    /// Empty if sending took too long.
    slot: Arc<Mutex<Option<Slot>>>,
    sent: CancellationToken,
}

/// Answers `request`, or rejects it with 429 if too many are in flight. Long-running requests do not count.
pub(super) async fn admit(
    limit: &ConcurrencyLimit,
    tasks: &TaskSet,
    request: Request,
    next: Next,
) -> Response {
    // Before the limit: a watch would hold a slot for as long as it lasts.
    let query = query_text(request.uri(), request.extensions());
    if is_exempt(request.method(), request.uri().path(), query) {
        return next.run(request).await;
    }
    let is_reading = matches!(
        *request.method(),
        Method::GET | Method::HEAD | Method::OPTIONS
    );
    // Before authentication: a flood of requests must not cost more than this.
    let Some(slot) = limit.enter(is_reading) else {
        return too_many();
    };
    let response = next.run(request).await;
    if slot.is_counted() {
        hold_for_a_time(tasks, response, slot)
    } else {
        response
    }
}

/// Frees `slot` after the response was sent. If that takes too long, frees the slot and stops sending.
fn hold_for_a_time(tasks: &TaskSet, response: Response, slot: Slot) -> Response {
    let held = HeldSlot {
        slot: Arc::new(Mutex::new(Some(slot))),
        sent: CancellationToken::new(),
    };
    let slot = Arc::clone(&held.slot);
    let sent = held.sent.clone();
    let stop = tasks.stop_token().clone();
    // The body of a slow reader is not polled, so it cannot check the time itself: a task does.
    tasks.spawn(async move {
        tokio::select! {
            biased;
            () = sent.cancelled() => {}
            () = stop.cancelled() => {}
            () = sleep(REQUEST_LIMIT) => drop(take_slot(&slot)),
        }
    });
    response.map(|body| observe(body, held))
}

fn take_slot(slot: &Mutex<Option<Slot>>) -> Option<Slot> {
    slot.lock().unwrap_or_else(PoisonError::into_inner).take()
}

// === impl HeldSlot ===

impl BodyObserver for HeldSlot {
    fn poll_frame(&mut self, body: &mut Body, context: &mut Context<'_>) -> PolledFrame {
        let slot = self.slot.lock().unwrap_or_else(PoisonError::into_inner);
        if slot.is_none() {
            let why = io::Error::new(io::ErrorKind::TimedOut, "the answer took too long to send");
            return Poll::Ready(Some(Err(axum::Error::new(why))));
        }
        Pin::new(body).poll_frame(context)
    }
}

impl Drop for HeldSlot {
    fn drop(&mut self) {
        drop(take_slot(&self.slot));
        self.sent.cancel();
    }
}

/// Returns whether a request is exempt from limits: one that is long-running, or controls the server.
pub(super) fn is_exempt(method: &Method, path: &str, query: Option<&str>) -> bool {
    path.starts_with("/_control/") || is_long_running(method, path, query)
}

/// Returns whether a request is long-running.
pub(super) fn is_long_running(method: &Method, path: &str, query: Option<&str>) -> bool {
    match ApiPath::parse(path) {
        ApiPath::Resource(path) => {
            let query = Query::parse(query);
            let is_watch = || Verb::of(method, &path, &query) == Some(Verb::Watch);
            is_stream(&path) || is_watch()
        }
        ApiPath::Deeper(path) => is_stream(&path),
        _ => false,
    }
}

/// Returns whether a path leads to a log, or to a connection with a container or a proxy.
fn is_stream(path: &ResourcePath) -> bool {
    let subresource = path.subresource.as_deref();
    path.group.is_empty()
        && matches!(
            subresource,
            Some("attach" | "exec" | "log" | "portforward" | "proxy")
        )
}

fn too_many() -> Response {
    (
        StatusCode::TOO_MANY_REQUESTS,
        [
            (
                header::CONTENT_TYPE,
                HeaderValue::from_static("text/plain; charset=utf-8"),
            ),
            (
                header::X_CONTENT_TYPE_OPTIONS,
                HeaderValue::from_static("nosniff"),
            ),
            (header::RETRY_AFTER, HeaderValue::from_static("1")),
        ],
        "Too many requests, please try again later.\n",
    )
        .into_response()
}
