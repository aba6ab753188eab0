//! What becomes of each frame of a watch: it is sent, or a fault has its way with it.

use std::{io, time::Duration};

use bytes::{Bytes, BytesMut};
use tokio::{
    sync::mpsc,
    time::{Instant, sleep},
};
use tracing::debug;

use super::{
    Watcher,
    driver::{Flow, Outcome},
};
use crate::{
    faults::{Breakage, Connection, EventType, FrameFacts, FrameVerdict, RequestFacts},
    response::Encoding,
    revision::Revision,
    state::Core,
    storage::ObjectKey,
};
use std::{ops::ControlFlow, sync::Arc};

/// A delay beyond the end of any watch is as good as this one, and can be added to any instant.
const LONGEST_DELAY: Duration = Duration::from_hours(24);
/// How long a transport has to send the half of a line before the connection breaks.
const TRANSPORT_FLUSH: Duration = Duration::from_millis(1);
/// How long bytes wait that a fault joins with what follows, if nothing does.
const JOIN_WAIT: Duration = Duration::from_millis(20);
/// How often it is looked whether a frame is still to be held back, beside each time that rules come or go.
const HOLD_LOOK: Duration = Duration::from_millis(250);

/// A frame, and what a fault may want to know of it.
pub(super) struct Frame {
    pub(super) bytes: Bytes,
    pub(super) event: EventType,
    pub(super) revision: Revision,
    pub(super) is_initial: bool,
    /// When its change was made, and to what; nothing for what is no change.
    pub(super) change: Option<(Instant, ObjectKey)>,
}

/// The way of frames to the client.
pub(super) struct Sending {
    pub(super) core: Arc<Core>,
    pub(super) watcher: Arc<Watcher>,
    pub(super) request: RequestFacts,
    pub(super) connection: Connection,
    pub(super) encoding: Encoding,
    pub(super) body: mpsc::Sender<io::Result<Bytes>>,
    frames: u64,
    /// A frame that a fault sends after the next one.
    swapped: Option<Bytes>,
    /// What a fault sends together with what follows, and until when it waits for that.
    joined: BytesMut,
    joined_until: Option<Instant>,
    /// When the initial events end, if a fault has put that off.
    end_postponed_to: Option<Instant>,
}

// === impl Sending ===

impl Sending {
    pub(super) fn new(
        core: Arc<Core>,
        watcher: Arc<Watcher>,
        (request, connection): (RequestFacts, Connection),
        encoding: Encoding,
        body: mpsc::Sender<io::Result<Bytes>>,
    ) -> Self {
        Self {
            core,
            watcher,
            request,
            connection,
            encoding,
            body,
            frames: 0,
            swapped: None,
            joined: BytesMut::new(),
            joined_until: None,
            end_postponed_to: None,
        }
    }

    /// Sends a frame, or does what a fault makes of it.
    pub(super) async fn send(&mut self, frame: Frame) -> Flow {
        let facts = FrameFacts {
            watch: &self.request,
            index: self.frames,
            event: frame.event,
            revision: frame.revision.get(),
            is_initial: frame.is_initial,
            is_initial_events_end: frame.is_initial && frame.event == EventType::Bookmark,
            length: frame.bytes.len(),
            api_version: self.encoding.api_version(),
            kind: self.encoding.kind(),
            age: frame.change.as_ref().map(|(made, _)| made.elapsed()),
        };
        let verdict = self.core.faults.on_frame(&facts);
        if verdict == FrameVerdict::Hold {
            self.hold(&facts).await;
        }
        self.frames += 1;
        self.encoding.first_was_sent();
        match verdict {
            FrameVerdict::Pass | FrameVerdict::Hold => self.put(frame.bytes).await,
            FrameVerdict::Delay(delay) => {
                sleep(delay.min(LONGEST_DELAY)).await;
                self.put(frame.bytes).await
            }
            FrameVerdict::Drop => Flow::Continue(()),
            FrameVerdict::Coalesce(window) => {
                sleep(window.min(LONGEST_DELAY)).await;
                if self.is_superseded(&frame) {
                    return Flow::Continue(());
                }
                self.put(frame.bytes).await
            }
            FrameVerdict::PostponeEnd(delay) => {
                self.end_postponed_to = Some(Instant::now() + delay.min(LONGEST_DELAY));
                Flow::Continue(())
            }
            FrameVerdict::Evict => {
                self.watcher.cut_off();
                self.put(frame.bytes).await
            }
            verdict @ (FrameVerdict::End
            | FrameVerdict::EndAfter
            | FrameVerdict::EndWith(_)
            | FrameVerdict::EndLater { .. }
            | FrameVerdict::Reset { .. }
            | FrameVerdict::GoAway
            | FrameVerdict::Silence) => self.end(frame.bytes, verdict).await,
            verdict => self.change(frame.bytes, verdict).await,
        }
    }

    /// Ends the stream at a frame, one way or another.
    async fn end(&mut self, bytes: Bytes, verdict: FrameVerdict) -> Flow {
        match verdict {
            FrameVerdict::EndAfter => self.put(bytes).await?,
            FrameVerdict::EndWith(last) => self.put(self.encoding.adopt(last)).await?,
            FrameVerdict::EndLater { after, with } => {
                sleep(after.min(LONGEST_DELAY)).await;
                self.put(self.encoding.adopt(with)).await?;
            }
            FrameVerdict::Reset { after_bytes } => return self.reset(bytes, after_bytes).await,
            FrameVerdict::GoAway if self.connection.is_over_tcp() => {
                self.connection.go_away();
                return self.put(bytes).await;
            }
            FrameVerdict::GoAway => return self.reset(bytes, 0).await,
            FrameVerdict::Silence => {
                self.flush().await?;
                // In process, a body that says nothing more is all there is to it.
                if self.connection.is_over_tcp() {
                    self.hand_over(Err(Breakage::HalfOpen.into())).await?;
                }
                return Flow::Break(Outcome::Silent);
            }
            _ => {}
        }
        Flow::Break(Outcome::End)
    }

    /// Sends other bytes than those of a frame, or in another way.
    async fn change(&mut self, bytes: Bytes, verdict: FrameVerdict) -> Flow {
        match verdict {
            // One frame is held at a time: the next one goes before it, whatever a rule says.
            FrameVerdict::SwapWithNext if self.swapped.is_none() => {
                self.swapped = Some(bytes);
                Flow::Continue(())
            }
            FrameVerdict::Replace(bytes) => self.put(self.encoding.adopt(bytes)).await,
            FrameVerdict::Rewrite(rewrite) => self.put(rewrite.frame(bytes)).await,
            FrameVerdict::Duplicate => {
                self.put(bytes.clone()).await?;
                self.put(bytes).await
            }
            FrameVerdict::JoinNext => {
                self.joined.extend_from_slice(&bytes);
                self.joined_until = Some(Instant::now() + JOIN_WAIT);
                Flow::Continue(())
            }
            FrameVerdict::Cut(cuts) => {
                let mut rest = bytes;
                let mut sent = 0;
                for cut in cuts {
                    let piece = rest.split_to(cut.saturating_sub(sent).min(rest.len()));
                    sent += piece.len();
                    self.put_piece(piece).await?;
                }
                self.put(rest).await
            }
            FrameVerdict::Trickle { bytes: size, every } => {
                let mut rest = bytes;
                while !rest.is_empty() {
                    let piece = rest.split_to(size.max(1).min(rest.len()));
                    self.put_piece(piece).await?;
                    sleep(every.min(LONGEST_DELAY)).await;
                }
                Flow::Continue(())
            }
            _ => self.put(bytes).await,
        }
    }

    /// Waits until no rule holds the frame back any more.
    async fn hold(&self, frame: &FrameFacts<'_>) {
        let faults = &self.core.faults;
        loop {
            let moved = faults.moved();
            if !faults.holds(frame) {
                return;
            }
            tokio::select! {
                biased;
                () = moved => {}
                () = sleep(HOLD_LOOK) => {}
            }
        }
    }

    /// Whether the object of a change has changed again.
    fn is_superseded(&self, frame: &Frame) -> bool {
        let Some((_, key)) = &frame.change else {
            return false;
        };
        let revision = frame.revision.get();
        self.core.storage.view(|view| {
            // What has gone has a deletion still to be sent.
            view.get(key).is_none_or(|now| now.revision() > revision)
        })
    }

    /// When the bookmark is due that ends the initial events, if it was put off.
    pub(super) fn end_postponed_to(&self) -> Option<Instant> {
        self.end_postponed_to
    }

    /// Sends the bookmark that was put off.
    pub(super) async fn send_postponed_end(&mut self, position: Revision) -> Flow {
        self.end_postponed_to = None;
        self.put(self.encoding.bookmark(position, true)).await
    }

    /// When bytes have waited long enough for others that they are to be joined with.
    pub(super) fn joined_until(&self) -> Option<Instant> {
        self.joined_until
    }

    /// Hands bytes to the client, and after them what was held back for that.
    pub(super) async fn put(&mut self, bytes: Bytes) -> Flow {
        self.put_piece(bytes).await?;
        match self.swapped.take() {
            Some(swapped) => self.hand_over(Ok(swapped)).await,
            None => Flow::Continue(()),
        }
    }

    /// Hands a part of a frame to the client, together with what waits for that.
    async fn put_piece(&mut self, piece: Bytes) -> Flow {
        if self.joined.is_empty() {
            return self.hand_over(Ok(piece)).await;
        }
        self.joined.extend_from_slice(&piece);
        self.flush().await
    }

    /// Hands over what waits to be joined with something.
    pub(super) async fn flush(&mut self) -> Flow {
        self.joined_until = None;
        if self.joined.is_empty() {
            return Flow::Continue(());
        }
        let joined = self.joined.split().freeze();
        self.hand_over(Ok(joined)).await
    }

    async fn reset(&mut self, mut bytes: Bytes, after_bytes: usize) -> Flow {
        self.flush().await?;
        bytes.truncate(after_bytes);
        if !bytes.is_empty() {
            self.hand_over(Ok(bytes)).await?;
            // A transport that is told of both at once breaks off before it has written anything.
            sleep(TRANSPORT_FLUSH).await;
        }
        self.hand_over(Err(Breakage::Reset.into())).await?;
        Flow::Break(Outcome::End)
    }

    async fn hand_over(&mut self, bytes: io::Result<Bytes>) -> Flow {
        if self.body.send(bytes).await.is_err() {
            debug!(resource = self.request.resource, "watcher has left");
            return ControlFlow::Break(Outcome::End);
        }
        Flow::Continue(())
    }
}
