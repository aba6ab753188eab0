//! The events of one watch, as the body of its response comes in.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use futures::Stream;
use http_body::Body as _;
use kube::client::Body;

use super::{Answer, negotiation::Negotiation, pages::Maker, response};
use crate::{
    decode::Frames,
    list_watch::{ListWatchError, WatchEvent},
};

/// The events of one watch.
///
/// Ends where the server ended the response in good order. A response that breaks off, also in the middle of a frame, gives
/// an error as its last item; nothing follows an error event either.
pub struct HttpWatchStream<K> {
    /// `None` once nothing more is to be read.
    body: Option<Body>,
    frames: Frames,
    maker: Maker<K>,
    negotiation: Arc<Negotiation>,
}

// === impl HttpWatchStream ===

impl<K> HttpWatchStream<K> {
    pub(super) fn new(
        answer: Answer<Body>,
        maker: Maker<K>,
        negotiation: Arc<Negotiation>,
    ) -> Self {
        Self {
            body: Some(answer.body),
            frames: Frames::new(answer.encoding),
            maker,
            negotiation,
        }
    }

    /// The next frame of the body; `None` at its end.
    fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, ListWatchError>>> {
        loop {
            let Some(body) = &mut self.body else {
                return Poll::Ready(None);
            };
            match self.frames.next_frame() {
                Ok(None) => {}
                Ok(Some(frame)) => return Poll::Ready(Some(Ok(frame))),
                Err(error) => return Poll::Ready(Some(Err(error))),
            }
            match ready!(Pin::new(body).poll_frame(cx)) {
                Some(Ok(part)) => {
                    if let Ok(chunk) = part.into_data() {
                        self.frames.push(chunk);
                    }
                }
                Some(Err(error)) => {
                    return Poll::Ready(Some(Err(response::transport_error(error))));
                }
                None => {
                    self.body = None;
                    return Poll::Ready(self.frames.finish());
                }
            }
        }
    }
}

impl<K: Send + Sync + 'static> Stream for HttpWatchStream<K> {
    type Item = Result<WatchEvent<K>, ListWatchError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let Some(frame) = ready!(self.poll_frame(cx)) else {
            return Poll::Ready(None);
        };
        let Maker { decoder, .. } = &self.maker;
        let encoding = self.frames.encoding();
        let event =
            frame.and_then(|frame| decoder.event_in(encoding, &frame, &self.maker.making()));
        if let Err(error) = &event {
            self.negotiation.check(encoding, error);
        }
        if matches!(event, Err(_) | Ok(WatchEvent::Error(_))) {
            self.body = None;
        }
        Poll::Ready(Some(event))
    }
}

impl<K> std::fmt::Debug for HttpWatchStream<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpWatchStream")
            .field("is_open", &self.body.is_some())
            .finish_non_exhaustive()
    }
}
