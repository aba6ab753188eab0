//! The most common fault there is: a stream that just ends.

use super::{Effect, FrameFacts, FrameVerdict, NamedRule};

/// See [`clean_end`].
#[derive(Debug, Clone, Copy)]
pub struct CleanEnd;

/// A watch ends cleanly before a frame, as it does when a server restarts or finds its client too slow.
pub fn clean_end() -> NamedRule<CleanEnd> {
    NamedRule::new(CleanEnd)
}

impl Effect for CleanEnd {
    const NAME: &'static str = "clean_end";

    fn on_frame(&self, _: &FrameFacts<'_>) -> Option<FrameVerdict> {
        Some(FrameVerdict::End)
    }
}
