//! The effect of frame verdicts on a stream. The pure part: steps, which the driver performs.

use std::{collections::VecDeque, time::Duration};

use bytes::{Bytes, BytesMut};
use fakeserver::faults::FrameVerdict;

/// The next step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// Send it.
    Send(Bytes),
    /// Wait so long.
    Wait(Duration),
    /// End cleanly.
    End,
    /// Break the connection.
    Break,
    /// Send nothing more, and stay.
    Silence,
    /// Ask the client to leave its connection.
    Leave,
}

/// Frames on their way through.
#[derive(Debug, Default)]
pub(super) struct Shaper {
    steps: VecDeque<Step>,
    /// The bytes that are sent together with the next ones.
    joined: BytesMut,
    /// A frame that goes behind the next one.
    held: Option<Bytes>,
}

// === impl Shaper ===

impl Shaper {
    /// Returns the next step; `None` until a frame has come.
    pub(super) fn next(&mut self) -> Option<Step> {
        self.steps.pop_front()
    }

    /// Returns whether bytes wait to be sent together with others.
    pub(super) fn is_joining(&self) -> bool {
        !self.joined.is_empty()
    }

    /// Sends what waits for that.
    pub(super) fn flush(&mut self) {
        if self.is_joining() {
            let joined = self.joined.split().freeze();
            self.steps.push_back(Step::Send(joined));
        }
    }

    /// Lets `bytes` through as they are.
    pub(super) fn pass(&mut self, bytes: Bytes) {
        self.send(bytes);
        self.steps.extend(self.held.take().map(Step::Send));
    }

    /// Ends the stream cleanly. A frame that is held back is sent first.
    pub(super) fn end(&mut self) {
        self.flush();
        self.steps.extend(self.held.take().map(Step::Send));
        self.steps.push_back(Step::End);
    }

    /// Breaks the stream.
    pub(super) fn break_off(&mut self) {
        self.flush();
        self.steps.push_back(Step::Break);
    }

    /// Sends `bytes` in chunks of `size` bytes, each delayed by another `every`.
    pub(super) fn trickle(&mut self, bytes: Bytes, size: usize, every: Duration) {
        let mut rest = bytes;
        while !rest.is_empty() {
            self.send(rest.split_to(size.max(1).min(rest.len())));
            self.steps.push_back(Step::Wait(every));
        }
    }

    /// Does to `frame` what `verdict` wants. Whether it knows how; else the frame passes.
    pub(super) fn shape(&mut self, frame: Bytes, verdict: FrameVerdict) -> bool {
        match verdict {
            FrameVerdict::Pass => self.pass(frame),
            FrameVerdict::Delay(delay) => {
                self.steps.push_back(Step::Wait(delay));
                self.pass(frame);
            }
            FrameVerdict::Reset { after_bytes } => {
                let part = frame.slice(..after_bytes.min(frame.len()));
                if !part.is_empty() {
                    self.send(part);
                }
                self.break_off();
            }
            FrameVerdict::Silence => {
                self.flush();
                self.steps.push_back(Step::Silence);
            }
            FrameVerdict::GoAway => {
                self.steps.push_back(Step::Leave);
                self.pass(frame);
            }
            FrameVerdict::End
            | FrameVerdict::EndAfter
            | FrameVerdict::EndWith(_)
            | FrameVerdict::EndLater { .. }
            | FrameVerdict::Evict => self.end_by(frame, verdict),
            verdict => return self.change(frame, verdict),
        }
        true
    }

    /// Ends the stream at a frame, cleanly.
    fn end_by(&mut self, frame: Bytes, verdict: FrameVerdict) {
        match verdict {
            FrameVerdict::EndWith(last) => self.pass(last),
            FrameVerdict::EndLater { after, with } => {
                self.flush();
                self.steps.push_back(Step::Wait(after));
                self.pass(with);
            }
            FrameVerdict::End => self.flush(),
            _ => self.pass(frame),
        }
        self.steps.push_back(Step::End);
    }

    /// Sends other bytes than those of a frame, or in another way.
    fn change(&mut self, frame: Bytes, verdict: FrameVerdict) -> bool {
        match verdict {
            FrameVerdict::Drop => {}
            FrameVerdict::Duplicate => {
                self.pass(frame.clone());
                self.pass(frame);
            }
            // One frame is held at a time.
            FrameVerdict::SwapWithNext if self.held.is_none() => self.held = Some(frame),
            FrameVerdict::SwapWithNext => self.pass(frame),
            FrameVerdict::Replace(bytes) => self.pass(bytes),
            FrameVerdict::Rewrite(rewrite) => self.pass(rewrite.frame(frame)),
            FrameVerdict::JoinNext => self.joined.extend_from_slice(&frame),
            FrameVerdict::Cut(cuts) => {
                let (mut rest, mut sent) = (frame, 0);
                for cut in cuts {
                    let piece = rest.split_to(cut.saturating_sub(sent).min(rest.len()));
                    sent += piece.len();
                    self.send(piece);
                }
                self.pass(rest);
            }
            FrameVerdict::Trickle { bytes, every } => self.trickle(frame, bytes, every),
            _ => {
                self.pass(frame);
                return false;
            }
        }
        true
    }

    /// Sends `bytes`, together with what waits for that.
    fn send(&mut self, bytes: Bytes) {
        if self.joined.is_empty() {
            let sent = (!bytes.is_empty()).then_some(Step::Send(bytes));
            self.steps.extend(sent);
        } else {
            self.joined.extend_from_slice(&bytes);
            self.flush();
        }
    }
}
