//! States that come and go before a client looks.

use std::time::Duration;

use crate::faults::{Effect, EventType, FrameFacts, FrameVerdict, NamedRule};

/// See [`coalesce`].
#[derive(Debug, Clone, Copy)]
pub struct Coalesce {
    window: Duration,
}

/// A change of an object waits so long, and is left out if the object has changed again by then: clients see the last of
/// several states. Additions and deletions are always seen.
pub fn coalesce(window: Duration) -> NamedRule<Coalesce> {
    NamedRule::new(Coalesce { window })
}

impl Effect for Coalesce {
    fn name(&self) -> &'static str {
        "coalesce"
    }

    fn on_frame(&mut self, frame: &FrameFacts<'_>) -> Option<FrameVerdict> {
        let is_change = frame.event == EventType::Modified && !frame.is_initial;
        is_change.then_some(FrameVerdict::Coalesce(self.window))
    }
}
