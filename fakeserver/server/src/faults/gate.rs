//! Applies fault verdicts to the frames of a watch.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use fakeserver_value::revision::Revision;
use tokio::time::{Instant, sleep};

use super::{Breakage, Connection, EventType, Faults, FrameFacts, FrameVerdict, RequestFacts};
use crate::watch::{Encode, EventKind, Flow, Frame, Gate, Outcome, Outlet};

/// A delay beyond the end of any watch is as good as this one, and can be added to any instant.
const LONGEST_DELAY: Duration = Duration::from_hours(24);
/// The time that a transport has to send the half of a line before the connection breaks.
const TRANSPORT_FLUSH: Duration = Duration::from_millis(1);
/// The time for which bytes wait that a fault joins with the next ones.
const JOIN_WAIT: Duration = Duration::from_millis(20);
/// The interval at which a held frame is judged again, beside each time that rules are installed or removed.
const HOLD_LOOK: Duration = Duration::from_millis(250);

/// The gate of one watch: every frame goes as the faults in force decide.
pub(crate) struct FaultGate<E> {
    faults: Faults,
    request: RequestFacts,
    connection: Connection,
    encoding: E,
    frames: u64,
    /// A frame that a fault sends after the next one.
    swapped: Option<Bytes>,
    /// Bytes that a fault sends together with the next ones, and the end of that wait.
    joined: BytesMut,
    joined_until: Option<Instant>,
    /// The time of the end of the initial events, if a fault has postponed it.
    end_postponed_to: Option<Instant>,
}

// === impl FaultGate ===

impl<E: Encode> FaultGate<E> {
    /// Creates the gate of the watch that `request` opened by `connection`.
    pub(crate) fn new(
        faults: Faults,
        request: RequestFacts,
        connection: Connection,
        encoding: E,
    ) -> Self {
        Self {
            faults,
            request,
            connection,
            encoding,
            frames: 0,
            swapped: None,
            joined: BytesMut::new(),
            joined_until: None,
            end_postponed_to: None,
        }
    }

    /// Ends the stream at a frame, one way or another.
    async fn end(&mut self, bytes: Bytes, verdict: FrameVerdict, outlet: &Outlet) -> Flow {
        match verdict {
            FrameVerdict::EndAfter => self.put(bytes, outlet).await?,
            FrameVerdict::EndWith(last) => self.put(self.encoding.adopt(last), outlet).await?,
            FrameVerdict::EndLater { after, with } => {
                sleep(after.min(LONGEST_DELAY)).await;
                self.put(self.encoding.adopt(with), outlet).await?;
            }
            FrameVerdict::Reset { after_bytes } => {
                return self.reset(bytes, after_bytes, outlet).await;
            }
            FrameVerdict::GoAway if self.connection.is_over_tcp() => {
                self.connection.go_away();
                return self.put(bytes, outlet).await;
            }
            FrameVerdict::GoAway => return self.reset(bytes, 0, outlet).await,
            FrameVerdict::Silence => {
                self.flush(outlet).await?;
                // In process, a body that says nothing more is all there is to it.
                if self.connection.is_over_tcp() {
                    outlet.hand_over(Err(Breakage::HalfOpen.into())).await?;
                }
                return Flow::Break(Outcome::Silent);
            }
            _ => {}
        }
        Flow::Break(Outcome::End)
    }

    /// Sends other bytes than those of a frame, or in another way.
    async fn change(&mut self, bytes: Bytes, verdict: FrameVerdict, outlet: &Outlet) -> Flow {
        match verdict {
            // One frame is held at a time: the next one is sent before it, also if a rule would hold that one, too.
            FrameVerdict::SwapWithNext if self.swapped.is_none() => {
                self.swapped = Some(bytes);
                Flow::Continue(())
            }
            FrameVerdict::Replace(bytes) => self.put(self.encoding.adopt(bytes), outlet).await,
            FrameVerdict::Rewrite(rewrite) => self.put(rewrite.frame(bytes), outlet).await,
            FrameVerdict::Duplicate => {
                self.put(bytes.clone(), outlet).await?;
                self.put(bytes, outlet).await
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
                    self.put_piece(piece, outlet).await?;
                }
                self.put(rest, outlet).await
            }
            FrameVerdict::Trickle { bytes: size, every } => {
                let mut rest = bytes;
                while !rest.is_empty() {
                    let piece = rest.split_to(size.max(1).min(rest.len()));
                    self.put_piece(piece, outlet).await?;
                    sleep(every.min(LONGEST_DELAY)).await;
                }
                Flow::Continue(())
            }
            _ => self.put(bytes, outlet).await,
        }
    }

    /// Waits until no rule holds the frame back any more.
    async fn hold(&self, frame: &FrameFacts<'_>) {
        let faults = &self.faults;
        loop {
            let changed = faults.changed();
            if !faults.holds(frame) {
                return;
            }
            tokio::select! {
                biased;
                () = changed => {}
                () = sleep(HOLD_LOOK) => {}
            }
        }
    }

    /// Hands a part of a frame to the client, together with what waits for that.
    async fn put_piece(&mut self, piece: Bytes, outlet: &Outlet) -> Flow {
        if self.joined.is_empty() {
            return outlet.hand_over(Ok(piece)).await;
        }
        self.joined.extend_from_slice(&piece);
        self.flush(outlet).await
    }

    async fn reset(&mut self, mut bytes: Bytes, after_bytes: usize, outlet: &Outlet) -> Flow {
        self.flush(outlet).await?;
        bytes.truncate(after_bytes);
        if !bytes.is_empty() {
            outlet.hand_over(Ok(bytes)).await?;
            // A transport that receives both at once aborts before it has written the bytes.
            sleep(TRANSPORT_FLUSH).await;
        }
        outlet.hand_over(Err(Breakage::Reset.into())).await?;
        Flow::Break(Outcome::End)
    }
}

impl<E: Encode> Gate for FaultGate<E> {
    type Encoding = E;

    fn encoding(&self) -> &E {
        &self.encoding
    }

    async fn send(&mut self, frame: Frame, outlet: &Outlet) -> Flow {
        let event = event_type(frame.event);
        let facts = FrameFacts {
            watch: &self.request,
            index: self.frames,
            event,
            revision: frame.revision.get(),
            is_initial: frame.is_initial,
            is_initial_events_end: frame.is_initial && frame.event.is_none(),
            length: frame.bytes.len(),
            api_version: self.encoding.api_version(),
            kind: self.encoding.kind(),
            age: frame.change.as_ref().map(|(made, _)| made.elapsed()),
        };
        let verdict = self.faults.on_frame(&facts);
        if verdict == FrameVerdict::Hold {
            self.hold(&facts).await;
        }
        self.frames += 1;
        self.encoding.first_was_sent();
        match verdict {
            FrameVerdict::Pass | FrameVerdict::Hold => self.put(frame.bytes, outlet).await,
            FrameVerdict::Delay(delay) => {
                sleep(delay.min(LONGEST_DELAY)).await;
                self.put(frame.bytes, outlet).await
            }
            FrameVerdict::Drop => Flow::Continue(()),
            FrameVerdict::Coalesce(window) => {
                sleep(window.min(LONGEST_DELAY)).await;
                if outlet.is_superseded(&frame) {
                    return Flow::Continue(());
                }
                self.put(frame.bytes, outlet).await
            }
            FrameVerdict::PostponeEnd(delay) => {
                self.end_postponed_to = Some(Instant::now() + delay.min(LONGEST_DELAY));
                Flow::Continue(())
            }
            FrameVerdict::Evict => {
                outlet.cut_off();
                self.put(frame.bytes, outlet).await
            }
            verdict @ (FrameVerdict::End
            | FrameVerdict::EndAfter
            | FrameVerdict::EndWith(_)
            | FrameVerdict::EndLater { .. }
            | FrameVerdict::Reset { .. }
            | FrameVerdict::GoAway
            | FrameVerdict::Silence) => self.end(frame.bytes, verdict, outlet).await,
            verdict => self.change(frame.bytes, verdict, outlet).await,
        }
    }

    async fn put(&mut self, bytes: Bytes, outlet: &Outlet) -> Flow {
        self.put_piece(bytes, outlet).await?;
        match self.swapped.take() {
            Some(swapped) => outlet.hand_over(Ok(swapped)).await,
            None => Flow::Continue(()),
        }
    }

    async fn flush(&mut self, outlet: &Outlet) -> Flow {
        self.joined_until = None;
        if self.joined.is_empty() {
            return Flow::Continue(());
        }
        let joined = self.joined.split().freeze();
        outlet.hand_over(Ok(joined)).await
    }

    fn end_postponed_to(&self) -> Option<Instant> {
        self.end_postponed_to
    }

    async fn send_postponed_end(&mut self, position: Revision, outlet: &Outlet) -> Flow {
        self.end_postponed_to = None;
        self.put(self.encoding.bookmark(position, true), outlet)
            .await
    }

    fn joined_until(&self) -> Option<Instant> {
        self.joined_until
    }
}

/// Returns the wire's word for an event of a watch; a bookmark is no event of an object.
fn event_type(event: Option<EventKind>) -> EventType {
    match event {
        Some(EventKind::Added) => EventType::Added,
        Some(EventKind::Modified) => EventType::Modified,
        Some(EventKind::Deleted) => EventType::Deleted,
        None => EventType::Bookmark,
    }
}
