//! An event that never comes.

use crate::faults::{Effect, FrameFacts, FrameVerdict, NamedRule};

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
    fn name(&self) -> &'static str {
        "drop_event"
    }

    fn on_frame(&mut self, frame: &FrameFacts<'_>) -> Option<FrameVerdict> {
        frame.is_event().then_some(FrameVerdict::Drop)
    }
}
