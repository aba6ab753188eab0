//! Objects that change while a streaming list is sent.

use std::time::Duration;

use crate::faults::{Effect, FrameFacts, FrameVerdict, NamedRule};

/// See [`changed_during_initial_events`].
#[derive(Debug, Clone, Copy)]
pub struct ChangedDuringInitialEvents {
    lasting: Duration,
}

/// The bookmark that ends the initial events comes so much later, with the version of then; what changes meanwhile comes
/// before it. An object may so be modified, or deleted, before the client knows that it has them all.
pub fn changed_during_initial_events(lasting: Duration) -> NamedRule<ChangedDuringInitialEvents> {
    NamedRule::new(ChangedDuringInitialEvents { lasting })
}

impl Effect for ChangedDuringInitialEvents {
    fn name(&self) -> &'static str {
        "changed_during_initial_events"
    }

    fn on_frame(&mut self, frame: &FrameFacts<'_>) -> Option<FrameVerdict> {
        frame
            .is_initial_events_end
            .then_some(FrameVerdict::PostponeEnd(self.lasting))
    }
}
