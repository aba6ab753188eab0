//! A body with something that is dropped when it was sent.

use std::{
    pin::Pin,
    task::{Context, Poll},
};

use axum::{body::Body, response::Response};
use bytes::Bytes;
use http_body::{Frame, SizeHint};

struct Held<T> {
    body: Body,
    _token: T,
}

/// Drops `token` when the body of `response` was sent, or is no longer wanted.
pub(super) fn hold<T: Send + Unpin + 'static>(response: Response, token: T) -> Response {
    response.map(|body| {
        Body::new(Held {
            body,
            _token: token,
        })
    })
}

// === impl Held ===

impl<T: Unpin> http_body::Body for Held<T> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
