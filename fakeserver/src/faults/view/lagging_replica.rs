//! A replica that comes after the others.

use std::time::Duration;

use crate::faults::{
    Effect, FrameFacts, FrameVerdict, NamedRule, RequestFacts, RequestVerdict, Sight,
};

/// See [`lagging_replica`].
#[derive(Debug, Clone, Copy)]
pub struct LaggingReplica {
    lag: Duration,
    has_quorum: bool,
}

/// Reads see the state of so long ago, and watches bring each change so long after it was made.
///
/// A list or a get that names no version asks for the most recent state, and gets it; see
/// [`and_quorum`](NamedRule::and_quorum).
pub fn lagging_replica(lag: Duration) -> NamedRule<LaggingReplica> {
    NamedRule::new(LaggingReplica {
        lag,
        has_quorum: false,
    })
}

// === impl LaggingReplica ===

impl NamedRule<LaggingReplica> {
    /// Reads of the most recent state come late too, as at aggregated servers that answer all from their caches.
    pub fn and_quorum(mut self) -> Self {
        self.effect_mut().has_quorum = true;
        self
    }
}

impl Effect for LaggingReplica {
    fn name(&self) -> &'static str {
        "lagging_replica"
    }

    fn on_request(&mut self, request: &RequestFacts) -> Option<RequestVerdict> {
        let is_behind = super::is_of_replica(request, self.has_quorum);
        is_behind.then_some(RequestVerdict::See(Sight::Ago(self.lag)))
    }

    fn on_frame(&mut self, frame: &FrameFacts<'_>) -> Option<FrameVerdict> {
        let left = self.lag.checked_sub(frame.age?)?;
        (!left.is_zero()).then_some(FrameVerdict::Delay(left))
    }
}
