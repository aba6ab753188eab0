//! Applies fault verdicts to the frames of a watch.
// A new verdict must not compile until it is applied here.
#![deny(clippy::wildcard_enum_match_arm)]

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use fakeserver_value::revision::Revision;
use tokio::time::{Instant, sleep};

use super::{Breakage, Connection, EventType, Faults, FrameFacts, FrameVerdict, RequestFacts};
use crate::watch::{Encode, EventKind, Flow, Frame, Gate, Outcome, WatchOutput};

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

    /// Sends `last`, and ends the stream.
    async fn end_with(&mut self, last: Bytes, output: &WatchOutput) -> Flow {
        self.put(last, output).await?;
        Flow::Break(Outcome::End)
    }

    /// Asks the client to reconnect; in process, where there is no GOAWAY, fails the transport.
    async fn go_away(&mut self, bytes: Bytes, output: &WatchOutput) -> Flow {
        if !self.connection.is_over_tcp() {
            return self.reset(bytes, 0, output).await;
        }
        self.connection.go_away();
        self.put(bytes, output).await
    }

    /// Sends nothing more, and keeps the stream open.
    async fn silence(&mut self, output: &WatchOutput) -> Flow {
        // Earlier frames that wait to be joined with this one are sent: only this frame and later ones are lost.
        self.flush(output).await?;
        // In process, a silent body suffices. Over TCP the connection itself has to be silenced: it would still answer
        // PINGs, by which a client checks that it is alive.
        if self.connection.is_over_tcp() {
            output.send_bytes(Err(Breakage::HalfOpen.into())).await?;
        }
        Flow::Break(Outcome::Silent)
    }

    /// Sends the bytes in pieces that end at `cuts`.
    async fn put_cut(&mut self, bytes: Bytes, cuts: Vec<usize>, output: &WatchOutput) -> Flow {
        let mut rest = bytes;
        let mut sent = 0;
        for cut in cuts {
            let piece = rest.split_to(cut.saturating_sub(sent).min(rest.len()));
            sent += piece.len();
            self.put_piece(piece, output).await?;
        }
        self.put(rest, output).await
    }

    /// Sends the bytes in pieces of `size`, with a pause of `every` after each.
    async fn trickle(
        &mut self,
        bytes: Bytes,
        size: usize,
        every: Duration,
        output: &WatchOutput,
    ) -> Flow {
        let mut rest = bytes;
        while !rest.is_empty() {
            let piece = rest.split_to(size.max(1).min(rest.len()));
            self.put_piece(piece, output).await?;
            sleep(every.min(LONGEST_DELAY)).await;
        }
        Flow::Continue(())
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
    async fn put_piece(&mut self, piece: Bytes, output: &WatchOutput) -> Flow {
        if self.joined.is_empty() {
            return output.send_bytes(Ok(piece)).await;
        }
        self.joined.extend_from_slice(&piece);
        self.flush(output).await
    }

    async fn reset(&mut self, mut bytes: Bytes, after_bytes: usize, output: &WatchOutput) -> Flow {
        self.flush(output).await?;
        bytes.truncate(after_bytes);
        if !bytes.is_empty() {
            output.send_bytes(Ok(bytes)).await?;
            // A transport that receives both at once aborts before it has written the bytes.
            sleep(TRANSPORT_FLUSH).await;
        }
        output.send_bytes(Err(Breakage::Reset.into())).await?;
        Flow::Break(Outcome::End)
    }
}

impl<E: Encode> Gate for FaultGate<E> {
    type Encoding = E;

    fn encoding(&self) -> &E {
        &self.encoding
    }

    async fn send(&mut self, frame: Frame, output: &WatchOutput) -> Flow {
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
        // Counted and encoded as sent before the verdict is applied: a dropped frame has its index, too, and an ended
        // stream has no later frame.
        self.frames += 1;
        self.encoding.first_frame_sent();
        match verdict {
            // One frame is held at a time: the next one is sent before it, also if a rule would hold that one, too.
            FrameVerdict::SwapWithNext if self.swapped.is_none() => {
                self.swapped = Some(frame.bytes);
                Flow::Continue(())
            }
            FrameVerdict::Pass | FrameVerdict::Hold | FrameVerdict::SwapWithNext => {
                self.put(frame.bytes, output).await
            }
            FrameVerdict::Delay(delay) => {
                sleep(delay.min(LONGEST_DELAY)).await;
                self.put(frame.bytes, output).await
            }
            FrameVerdict::Drop => Flow::Continue(()),
            FrameVerdict::Coalesce(window) => {
                sleep(window.min(LONGEST_DELAY)).await;
                if output.is_superseded(&frame) {
                    return Flow::Continue(());
                }
                self.put(frame.bytes, output).await
            }
            FrameVerdict::PostponeEnd(delay) => {
                self.end_postponed_to = Some(Instant::now() + delay.min(LONGEST_DELAY));
                Flow::Continue(())
            }
            FrameVerdict::Evict => {
                // Cut off first: a change that is committed during the write below must not be queued any more.
                output.cut_off();
                self.put(frame.bytes, output).await
            }
            FrameVerdict::End => Flow::Break(Outcome::End),
            FrameVerdict::EndAfter => self.end_with(frame.bytes, output).await,
            FrameVerdict::EndWith(last) => {
                let last = self.encoding.adopt(last);
                self.end_with(last, output).await
            }
            FrameVerdict::EndLater { after, with } => {
                sleep(after.min(LONGEST_DELAY)).await;
                let last = self.encoding.adopt(with);
                self.end_with(last, output).await
            }
            FrameVerdict::Reset { after_bytes } => {
                self.reset(frame.bytes, after_bytes, output).await
            }
            FrameVerdict::GoAway => self.go_away(frame.bytes, output).await,
            FrameVerdict::Silence => self.silence(output).await,
            FrameVerdict::Replace(other) => {
                let other = self.encoding.adopt(other);
                self.put(other, output).await
            }
            FrameVerdict::Rewrite(rewrite) => self.put(rewrite.frame(frame.bytes), output).await,
            FrameVerdict::Duplicate => {
                self.put(frame.bytes.clone(), output).await?;
                self.put(frame.bytes, output).await
            }
            FrameVerdict::JoinNext => {
                self.joined.extend_from_slice(&frame.bytes);
                self.joined_until = Some(Instant::now() + JOIN_WAIT);
                Flow::Continue(())
            }
            FrameVerdict::Cut(cuts) => self.put_cut(frame.bytes, cuts, output).await,
            FrameVerdict::Trickle { bytes: size, every } => {
                self.trickle(frame.bytes, size, every, output).await
            }
        }
    }

    async fn put(&mut self, bytes: Bytes, output: &WatchOutput) -> Flow {
        self.put_piece(bytes, output).await?;
        match self.swapped.take() {
            Some(swapped) => output.send_bytes(Ok(swapped)).await,
            None => Flow::Continue(()),
        }
    }

    async fn flush(&mut self, output: &WatchOutput) -> Flow {
        self.joined_until = None;
        if self.joined.is_empty() {
            return Flow::Continue(());
        }
        let joined = self.joined.split().freeze();
        output.send_bytes(Ok(joined)).await
    }

    fn end_postponed_to(&self) -> Option<Instant> {
        self.end_postponed_to
    }

    async fn send_postponed_end(&mut self, position: Revision, output: &WatchOutput) -> Flow {
        self.end_postponed_to = None;
        self.put(self.encoding.bookmark(position, true), output)
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
