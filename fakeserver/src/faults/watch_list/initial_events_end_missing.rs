//! A streaming list that never says that it is complete.

use crate::faults::{Effect, FrameFacts, FrameVerdict, NamedRule};

/// See [`initial_events_end_missing`].
#[derive(Debug, Clone, Copy)]
pub struct InitialEventsEndMissing;

/// The bookmark that ends the initial events is left out; the stream goes on with what changes.
pub fn initial_events_end_missing() -> NamedRule<InitialEventsEndMissing> {
    NamedRule::new(InitialEventsEndMissing)
}

impl Effect for InitialEventsEndMissing {
    fn name(&self) -> &'static str {
        "initial_events_end_missing"
    }

    fn on_frame(&mut self, frame: &FrameFacts<'_>) -> Option<FrameVerdict> {
        frame.is_initial_events_end.then_some(FrameVerdict::Drop)
    }
}
