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

use super::{Answer, negotiation::Negotiation, pages::ObjectDecoder, response};
use crate::{
    decode::{Frame, Frames},
    list_watch::{ListWatchError, WatchEvent},
};

/// The events of one watch.
///
/// Ends where the server ended the response in good order. A response that breaks off, also in the middle of a frame, gives
/// an error as its last item; nothing follows an error event either.
pub struct HttpWatchStream<K> {
    body: WatchBody,
    maker: ObjectDecoder<K>,
    negotiation: Arc<Negotiation>,
    /// True if events bring the present state before the changes, without an end.
    begins_with_state: bool,
}

/// The frames of the body, whatever the type of the objects is.
struct WatchBody {
    /// `None` once nothing more is to be read.
    body: Option<Body>,
    frames: Frames,
}

// === impl HttpWatchStream ===

impl<K> HttpWatchStream<K> {
    pub(super) fn new(
        answer: Answer<Body>,
        maker: ObjectDecoder<K>,
        negotiation: Arc<Negotiation>,
        begins_with_state: bool,
    ) -> Self {
        Self {
            body: WatchBody {
                body: Some(answer.body),
                frames: Frames::new(answer.encoding),
            },
            maker,
            negotiation,
            begins_with_state,
        }
    }
}

// === impl WatchBody ===

impl WatchBody {
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
        loop {
            let Some(frame) = ready!(self.body.poll_frame(cx)) else {
                return Poll::Ready(None);
            };
            let decoder = &self.maker.decoder;
            let encoding = self.body.frames.encoding();
            let frame =
                frame.and_then(|frame| decoder.event_in(encoding, &frame, &self.maker.making()));
            let event = match frame {
                Ok(Frame::Event(event)) => Ok(event),
                Ok(Frame::OutOfShard(_)) if self.begins_with_state => continue,
                // It says how far the stream has come, as a bookmark does.
                Ok(Frame::OutOfShard(resource_version)) => Ok(WatchEvent::Bookmark {
                    resource_version,
                    is_end_of_initial_events: false,
                }),
                Err(error) => Err(error),
            };
            if let Err(error) = &event {
                self.negotiation.check(encoding, error);
            }
            match &event {
                Err(_) | Ok(WatchEvent::Error(_)) => self.body.body = None,
                Ok(WatchEvent::Bookmark { .. }) => self.begins_with_state = false,
                Ok(_) => {}
            }
            return Poll::Ready(Some(event));
        }
    }
}

impl<K> std::fmt::Debug for HttpWatchStream<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpWatchStream")
            .field("is_open", &self.body.body.is_some())
            .finish_non_exhaustive()
    }
}
