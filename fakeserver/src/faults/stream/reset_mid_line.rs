//! A connection that breaks in the middle of a line.

use crate::faults::{Effect, FrameFacts, FrameVerdict, NamedRule};

/// See [`reset_mid_line`].
#[derive(Debug, Clone, Copy)]
pub struct ResetMidLine;

/// Half of a frame is sent, and then the transport fails.
pub fn reset_mid_line() -> NamedRule<ResetMidLine> {
    NamedRule::new(ResetMidLine)
}

impl Effect for ResetMidLine {
    fn name(&self) -> &'static str {
        "reset_mid_line"
    }

    fn on_frame(&mut self, frame: &FrameFacts<'_>) -> Option<FrameVerdict> {
        let after_bytes = frame.length / 2;
        Some(FrameVerdict::Reset { after_bytes })
    }
}
