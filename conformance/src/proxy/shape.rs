//! What a verdict on a frame makes of the stream. The pure part: steps, which the driver performs.

use std::{collections::VecDeque, time::Duration};

use bytes::Bytes;
use fakeserver::faults::FrameVerdict;

/// What is to be done next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// Send it.
    Send(Bytes),
    /// Wait so long.
    Wait(Duration),
    /// End in good order.
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
    /// A frame that goes behind the next one.
    held: Option<Bytes>,
}

// === impl Shaper ===

impl Shaper {
    /// What is to be done next; nothing, as long as no frame has come.
    pub(super) fn next(&mut self) -> Option<Step> {
        self.steps.pop_front()
    }

    /// Lets `bytes` through as they are.
    pub(super) fn pass(&mut self, bytes: Bytes) {
        self.steps.push_back(Step::Send(bytes));
        self.steps.extend(self.held.take().map(Step::Send));
    }

    /// Ends the stream in good order. A frame that waits for another goes first.
    pub(super) fn end(&mut self) {
        self.steps.extend(self.held.take().map(Step::Send));
        self.steps.push_back(Step::End);
    }

    /// Breaks the stream.
    pub(super) fn break_off(&mut self) {
        self.steps.push_back(Step::Break);
    }

    /// Does to `frame` what `verdict` wants. Whether it knows how; else the frame passes.
    pub(super) fn shape(&mut self, frame: Bytes, verdict: FrameVerdict) -> bool {
        match verdict {
            FrameVerdict::Pass => self.pass(frame),
            FrameVerdict::Delay(delay) => {
                self.steps.push_back(Step::Wait(delay));
                self.pass(frame);
            }
            FrameVerdict::End => self.steps.push_back(Step::End),
            FrameVerdict::EndAfter => {
                self.pass(frame);
                self.steps.push_back(Step::End);
            }
            FrameVerdict::EndWith(bytes) => {
                self.pass(bytes);
                self.steps.push_back(Step::End);
            }
            FrameVerdict::Reset { after_bytes } => {
                let part = frame.slice(..after_bytes.min(frame.len()));
                if !part.is_empty() {
                    self.steps.push_back(Step::Send(part));
                }
                self.break_off();
            }
            FrameVerdict::Silence => self.steps.push_back(Step::Silence),
            FrameVerdict::GoAway => {
                self.steps.push_back(Step::Leave);
                self.pass(frame);
            }
            FrameVerdict::Drop => {}
            FrameVerdict::Duplicate => {
                self.pass(frame.clone());
                self.pass(frame);
            }
            // One frame is held at a time.
            FrameVerdict::SwapWithNext if self.held.is_none() => self.held = Some(frame),
            FrameVerdict::SwapWithNext => self.pass(frame),
            FrameVerdict::Replace(bytes) => self.pass(bytes),
            _ => {
                self.pass(frame);
                return false;
            }
        }
        true
    }
}
