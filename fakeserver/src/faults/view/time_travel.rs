//! A connection that leads to a replica which is behind.

use crate::faults::{Effect, NamedRule, RequestFacts, RequestVerdict, Sight};

/// See [`time_travel`].
#[derive(Debug, Clone, Copy)]
pub struct TimeTravel {
    behind_revisions: u64,
    has_quorum: bool,
}

/// A list, or the beginning of a watch, sees the state so many revisions before: less than the client has seen, if that was
/// there before. What follows a watch's beginning comes as ever.
///
/// A list that names no version asks for the most recent state, and gets it; see [`and_quorum`](NamedRule::and_quorum).
pub fn time_travel(behind_revisions: u64) -> NamedRule<TimeTravel> {
    NamedRule::new(TimeTravel {
        behind_revisions,
        has_quorum: false,
    })
}

// === impl TimeTravel ===

impl NamedRule<TimeTravel> {
    /// Lists of the most recent state lead back too, as at aggregated servers that answer all from their caches.
    pub fn and_quorum(mut self) -> Self {
        self.effect_mut().has_quorum = true;
        self
    }
}

impl Effect for TimeTravel {
    fn name(&self) -> &'static str {
        "time_travel"
    }

    fn on_request(&mut self, request: &RequestFacts) -> Option<RequestVerdict> {
        if request.verb == "get" || !super::is_of_replica(request, self.has_quorum) {
            return None;
        }
        let then = request.revision.saturating_sub(self.behind_revisions);
        Some(RequestVerdict::See(Sight::At(then)))
    }
}
