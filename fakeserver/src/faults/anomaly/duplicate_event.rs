//! An event that comes twice.

use crate::faults::{Effect, FrameFacts, FrameVerdict, NamedRule};

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
    fn name(&self) -> &'static str {
        "duplicate_event"
    }

    fn on_frame(&mut self, frame: &FrameFacts<'_>) -> Option<FrameVerdict> {
        frame.is_event().then_some(FrameVerdict::Duplicate)
    }
}
