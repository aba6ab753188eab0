//! Request bodies that are still being sent when the answer is ready.
//!
//! A refusal does not wait for the body. But a client that writes the whole body before it reads would see a broken
//! connection instead of the answer. So the rest of the body is read and discarded, within limits, as Go's server does.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use axum::{
    body::{Body, HttpBody},
    extract::Request,
    middleware::Next,
    response::Response,
};
use http::{HeaderValue, Version, header};
use http_body_util::{BodyExt, Limited};
use tokio::time::timeout;

use super::observed_body::{BodyObserver, observe};

/// The number of unread bytes that are drained: enough for a body that is rejected because it is too long.
const UNREAD_MAX_BYTES: usize = 8 * 1024 * 1024;
/// The time for which an answer waits for that.
const UNREAD_LIMIT: Duration = Duration::from_millis(500);

/// The slot to which an unfinished body returns.
type Slot = Arc<Mutex<Option<Body>>>;

/// An observer that returns a body which is dropped before its end to its slot, to be drained.
struct DrainObserver(Slot);

/// Answers `request` after the rest of its body was drained.
///
/// HTTP/2 can answer a stream that the client has not ended. A client that sends `Expect: 100-continue` has not sent
/// the body.
pub(super) async fn drain(mut request: Request, next: Next) -> Response {
    let waits = request.headers().contains_key(header::EXPECT);
    if request.version() >= Version::HTTP_2 || waits || request.body().is_end_stream() {
        return next.run(request).await;
    }
    let slot = Slot::default();
    let body = std::mem::take(request.body_mut());
    *request.body_mut() = observe(body, DrainObserver(Arc::clone(&slot)));
    let mut response = next.run(request).await;
    // After the handler, which may have read the body: only what is left returns to the slot.
    let rest = lock(&slot).take();
    if let Some(rest) = rest
        && !matches!(timeout(UNREAD_LIMIT, ends(rest)).await, Ok(true))
    {
        // The unread rest would be taken for the next request.
        let close = HeaderValue::from_static("close");
        response.headers_mut().insert(header::CONNECTION, close);
    }
    response
}

/// Drains `body`, and returns whether it ended within the limit.
async fn ends(body: Body) -> bool {
    let mut body = Limited::new(body, UNREAD_MAX_BYTES);
    while let Some(frame) = body.frame().await {
        if frame.is_err() {
            return false;
        }
    }
    true
}

fn lock(slot: &Slot) -> MutexGuard<'_, Option<Body>> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

// === impl DrainObserver ===

impl BodyObserver for DrainObserver {
    fn end(&mut self, body: Body) {
        if !body.is_end_stream() {
            *lock(&self.0) = Some(body);
        }
    }
}
