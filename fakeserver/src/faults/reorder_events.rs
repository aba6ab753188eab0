//! Two events in the wrong order.

use super::{Effect, EventType, FrameFacts, FrameVerdict, NamedRule};

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
    const NAME: &'static str = "reorder_events";

    fn on_frame(&self, frame: &FrameFacts<'_>) -> Option<FrameVerdict> {
        matches!(
            frame.event,
            EventType::Added | EventType::Modified | EventType::Deleted
        )
        .then_some(FrameVerdict::SwapWithNext)
    }
}
