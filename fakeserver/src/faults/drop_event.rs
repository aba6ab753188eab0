//! An event that never comes.

use super::{Effect, EventType, FrameFacts, FrameVerdict, NamedRule};

/// See [`drop_event`].
#[derive(Debug, Clone, Copy)]
pub struct DropEvent;

/// A negative control: no correct server does this, and a checker must find out.
///
/// An event (no bookmark, no error) is left out of its stream.
pub fn drop_event() -> NamedRule<DropEvent> {
    NamedRule::new(DropEvent)
}

impl Effect for DropEvent {
    const NAME: &'static str = "drop_event";

    fn on_frame(&self, frame: &FrameFacts<'_>) -> Option<FrameVerdict> {
        matches!(
            frame.event,
            EventType::Added | EventType::Modified | EventType::Deleted
        )
        .then_some(FrameVerdict::Drop)
    }
}
