//! An event that comes twice.

use super::{Effect, EventType, FrameFacts, FrameVerdict, NamedRule};

/// See [`duplicate_event`].
#[derive(Debug, Clone, Copy)]
pub struct DuplicateEvent;

/// A negative control: no correct server does this, and a checker must find out.
///
/// An event (no bookmark, no error) is sent twice.
pub fn duplicate_event() -> NamedRule<DuplicateEvent> {
    NamedRule::new(DuplicateEvent)
}

impl Effect for DuplicateEvent {
    const NAME: &'static str = "duplicate_event";

    fn on_frame(&self, frame: &FrameFacts<'_>) -> Option<FrameVerdict> {
        matches!(
            frame.event,
            EventType::Added | EventType::Modified | EventType::Deleted
        )
        .then_some(FrameVerdict::Duplicate)
    }
}
