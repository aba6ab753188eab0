//! Two events in the wrong order.

use crate::faults::{Effect, FrameFacts, FrameVerdict, NamedRule};

/// See [`reorder_events`].
#[derive(Debug, Clone, Copy)]
pub struct ReorderEvents;

/// A negative control: no correct server does this, and a checker must find out.
///
/// An event (no bookmark, no error) is sent after the frame that follows it.
pub fn reorder_events() -> NamedRule<ReorderEvents> {
    NamedRule::new(ReorderEvents)
}

impl Effect for ReorderEvents {
    fn name(&self) -> &'static str {
        "reorder_events"
    }

    fn on_frame(&mut self, frame: &FrameFacts<'_>) -> Option<FrameVerdict> {
        frame.is_event().then_some(FrameVerdict::SwapWithNext)
    }
}
