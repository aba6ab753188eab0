//! A body that drops a guard once it was sent.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
};

use axum::{body::Body, response::Response};
use bytes::Bytes;
use http_body::{Frame, SizeHint};

struct Held<T> {
    body: Body,
    token: T,
}

/// A value that is dropped with a body.
pub(super) trait Token: Send + Unpin + 'static {
    /// Returns whether the body has no time left.
    fn is_over(&self) -> bool {
        false
    }
}

/// Drops `token` when the body of `response` was sent, or is no longer wanted.
pub(super) fn hold<T: Token>(response: Response, token: T) -> Response {
    response.map(|body| Body::new(Held { body, token }))
}

// === impl Held ===

impl<T: Token> http_body::Body for Held<T> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.token.is_over() {
            let why = io::Error::new(io::ErrorKind::TimedOut, "the answer took too long to send");
            return Poll::Ready(Some(Err(axum::Error::new(why))));
        }
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
