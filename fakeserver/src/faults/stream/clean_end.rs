//! The most common fault there is: a stream that just ends.

use crate::faults::{Effect, FrameFacts, FrameVerdict, NamedRule};

/// See [`clean_end`].
#[derive(Debug, Clone, Copy)]
pub struct CleanEnd;

/// A watch ends cleanly before a frame, as it does when a server restarts or finds its client too slow.
pub fn clean_end() -> NamedRule<CleanEnd> {
    NamedRule::new(CleanEnd)
}

impl Effect for CleanEnd {
    fn name(&self) -> &'static str {
        "clean_end"
    }

    fn on_frame(&mut self, _: &FrameFacts<'_>) -> Option<FrameVerdict> {
        Some(FrameVerdict::End)
    }
}
