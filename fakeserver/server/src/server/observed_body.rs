//! Bodies whose frames and end another value observes.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use axum::body::Body;
use bytes::Bytes;
use http_body::{Body as _, Frame, SizeHint};

/// The outcome of polling a body.
pub(super) type PolledFrame = Poll<Option<Result<Frame<Bytes>, axum::Error>>>;

/// An observer of a body, which is dropped with it.
pub(super) trait BodyObserver: Send + Unpin + 'static {
    /// Polls the body for its next frame.
    fn poll_frame(&mut self, body: &mut Body, context: &mut Context<'_>) -> PolledFrame {
        Pin::new(body).poll_frame(context)
    }

    /// Takes the body when it was sent, or is no longer wanted.
    fn end(&mut self, body: Body) {
        drop(body);
    }
}

struct ObservedBody<T: BodyObserver> {
    body: Body,
    observer: T,
}

/// Returns `body` with an observer.
pub(super) fn observe(body: Body, observer: impl BodyObserver) -> Body {
    Body::new(ObservedBody { body, observer })
}

// === impl ObservedBody ===

impl<T: BodyObserver> http_body::Body for ObservedBody<T> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> PolledFrame {
        let Self { body, observer } = &mut *self;
        observer.poll_frame(body, context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl<T: BodyObserver> Drop for ObservedBody<T> {
    fn drop(&mut self) {
        self.observer.end(std::mem::take(&mut self.body));
    }
}
