//! The body of a response under observation.

use std::{
    num::NonZero,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use super::{observe::Exchange, route::Connection};
use crate::{
    interleave::{Seam, Yields},
    trace::Ending,
};

/// A body that records its data and its end. A body that is dropped before its end was abandoned by the client.
#[derive(Debug)]
pub struct ObservedBody {
    body: axum::body::Body,
    exchange: Exchange,
    connection: Arc<Connection>,
    yields: Yields,
    /// Data that waits for this number of yields.
    held: Option<(ArrivedFrame, u8)>,
    chunk_max: Option<NonZero<usize>>,
    /// Data that has arrived and is handed on in chunks.
    rest: Bytes,
}

type ArrivedFrame = Option<Result<Frame<Bytes>, axum::Error>>;

// === impl ObservedBody ===

impl ObservedBody {
    pub(super) fn new(
        body: axum::body::Body,
        exchange: Exchange,
        connection: Arc<Connection>,
        yields: Yields,
    ) -> Self {
        Self {
            body,
            exchange,
            connection,
            yields,
            held: None,
            chunk_max: None,
            rest: Bytes::new(),
        }
    }

    /// Cuts data into chunks of at most this number of bytes.
    pub(super) fn with_chunk_max(mut self, bytes: Option<NonZero<usize>>) -> Self {
        self.chunk_max = bytes;
        self
    }

    /// Returns the next frame, of which all but one chunk waits in `rest`.
    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<ArrivedFrame> {
        let Some(chunk_max) = self.chunk_max else {
            return self.poll_arrived(cx);
        };
        if self.rest.is_empty() {
            match ready!(self.poll_arrived(cx)).map(|frame| frame.map(Frame::into_data)) {
                Some(Ok(Ok(data))) => self.rest = data,
                Some(Ok(Err(trailers))) => return Poll::Ready(Some(Ok(trailers))),
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => return Poll::Ready(None),
            }
        }
        let length = self.rest.len().min(chunk_max.get());
        Poll::Ready(Some(Ok(Frame::data(self.rest.split_to(length)))))
    }

    fn poll_arrived(&mut self, cx: &mut Context<'_>) -> Poll<ArrivedFrame> {
        if let Poll::Ready(error) = self.connection.poll_broken(cx) {
            return Poll::Ready(Some(Err(axum::Error::new(error))));
        }
        let (arrived, waits) = if let Some(held) = self.held.take() {
            held
        } else {
            let arrived = ready!(Pin::new(&mut self.body).poll_frame(cx));
            (arrived, self.yields.draw(Seam::Frame))
        };
        if waits == 0 {
            return Poll::Ready(arrived);
        }
        self.held = Some((arrived, waits - 1));
        cx.waker().wake_by_ref();
        Poll::Pending
    }
}

impl Body for ObservedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(self.poll_chunk(cx));
        match &frame {
            Some(Ok(frame)) => {
                if let Some(data) = frame.data_ref() {
                    self.exchange.data_arrived(data);
                }
            }
            Some(Err(_)) => self.exchange.ended(Ending::Broken),
            None => self.exchange.ended(Ending::Clean),
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        // The inner body is always read to its end, so that the end is recorded.
        false
    }

    fn size_hint(&self) -> SizeHint {
        let (inner, rest) = (self.body.size_hint(), self.rest.len() as u64);
        let mut hint = SizeHint::new();
        hint.set_lower(inner.lower() + rest);
        if let Some(upper) = inner.upper() {
            hint.set_upper(upper + rest);
        }
        hint
    }
}
