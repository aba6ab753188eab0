//! The events of one watch, as the body of its response comes in.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use bytes::Bytes;
use futures::Stream;
use http::Response;
use http_body::Body as _;
use kube::client::Body;

use super::{
    Answer,
    gzip::{self, GzipDecoder},
    negotiation::Negotiation,
    pages::ObjectDecoder,
    response,
};
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
    /// The decoder of a compressed body.
    gzip: Option<GzipDecoder>,
    /// True if a failure of the body can be due to a layer of the client that decompresses it.
    may_be_decompressed: bool,
}

// === impl HttpWatchStream ===

impl<K> HttpWatchStream<K> {
    pub(super) fn new(
        answer: Answer<Response<Body>>,
        is_streaming_list: bool,
        maker: ObjectDecoder<K>,
        negotiation: Arc<Negotiation>,
        begins_with_state: bool,
    ) -> Self {
        let is_compressed = gzip::is_compressed(answer.body.headers());
        let asked_for_gzip = is_streaming_list && negotiation.preference().accepts_gzip;
        Self {
            body: WatchBody {
                body: Some(answer.body.into_body()),
                frames: Frames::new(answer.encoding),
                gzip: is_compressed.then(GzipDecoder::new),
                may_be_decompressed: asked_for_gzip && !is_compressed,
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
            if let Some(gzip) = &mut self.gzip {
                match gzip.next_chunk() {
                    Ok(None) => {}
                    Ok(Some(chunk)) => {
                        self.frames.push(chunk);
                        continue;
                    }
                    Err(error) => return Poll::Ready(Some(Err(response::bad_compression(error)))),
                }
            }
            match ready!(Pin::new(body).poll_frame(cx)) {
                Some(Ok(part)) => match (part.into_data(), &mut self.gzip) {
                    (Ok(chunk), Some(gzip)) => gzip.push(chunk),
                    (Ok(chunk), None) => self.frames.push(chunk),
                    // Trailers say nothing.
                    (Err(_), _) => {}
                },
                Some(Err(error)) => {
                    return Poll::Ready(Some(Err(response::transport_error(error))));
                }
                None => {
                    self.body = None;
                    if let Some(Err(error)) = self.gzip.as_mut().map(GzipDecoder::finish) {
                        return Poll::Ready(Some(Err(response::bad_compression(error))));
                    }
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
                let is_of_layer =
                    self.body.may_be_decompressed && matches!(error, ListWatchError::Transport(_));
                if is_of_layer || response::is_bad_compression(error) {
                    self.negotiation.refuse_gzip();
                }
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
