//! A response's body that is looked at as it passes.

use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use super::observe::Exchange;
use crate::trace::Ending;

/// A body that records what it brings and how it ends; dropped before its end, it was given up by the client.
#[derive(Debug)]
pub struct ObservedBody {
    body: axum::body::Body,
    exchange: Exchange,
}

// === impl ObservedBody ===

impl ObservedBody {
    pub(super) fn new(body: axum::body::Body, exchange: Exchange) -> Self {
        Self { body, exchange }
    }
}

impl Body for ObservedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
        match &frame {
            Some(Ok(frame)) => {
                if let Some(data) = frame.data_ref() {
                    self.exchange.brought(data);
                }
            }
            Some(Err(_)) => self.exchange.ended(Ending::Broken),
            None => self.exchange.ended(Ending::Clean),
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        // Always read to the end, so that the end is seen.
        false
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
