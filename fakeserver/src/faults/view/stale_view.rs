//! A replica that stands still while others go on.

use crate::faults::{
    Effect, FrameFacts, FrameVerdict, NamedRule, RequestFacts, RequestVerdict, Sight,
};

/// See [`stale_view`].
#[derive(Debug, Clone, Copy)]
pub struct StaleView {
    behind_revisions: u64,
    has_quorum: bool,
    /// Where the view stands still, once it does.
    frozen: Option<u64>,
}

/// From the first occasion on, reads see the state of then, or so many revisions before, and watches bring nothing that is
/// newer. When the rule's time is over, or the rule is removed, they bring it all.
///
/// A list or a get that names no version asks for the most recent state, and gets it; see
/// [`and_quorum`](NamedRule::and_quorum). One that names a version that the view has not reached is told so after three
/// seconds, 504. With `times`, only so many reads are stale, and frames are not held back.
pub fn stale_view(behind_revisions: u64) -> NamedRule<StaleView> {
    NamedRule::new(StaleView {
        behind_revisions,
        has_quorum: false,
        frozen: None,
    })
}

// === impl StaleView ===

impl NamedRule<StaleView> {
    /// Reads of the most recent state are stale too, as at aggregated servers that answer all from their caches.
    pub fn and_quorum(mut self) -> Self {
        self.effect_mut().has_quorum = true;
        self
    }
}

impl Effect for StaleView {
    fn name(&self) -> &'static str {
        "stale_view"
    }

    fn on_request(&mut self, request: &RequestFacts) -> Option<RequestVerdict> {
        if !super::is_of_replica(request, self.has_quorum) {
            return None;
        }
        let now = request.revision.saturating_sub(self.behind_revisions);
        let frozen = *self.frozen.get_or_insert(now);
        Some(RequestVerdict::See(Sight::At(frozen)))
    }

    fn on_frame(&mut self, frame: &FrameFacts<'_>) -> Option<FrameVerdict> {
        if frame.is_initial {
            return None;
        }
        let before = frame.revision.saturating_sub(1 + self.behind_revisions);
        let frozen = *self.frozen.get_or_insert(before);
        (frame.revision > frozen).then_some(FrameVerdict::Hold)
    }

    fn holds(&self, frame: &FrameFacts<'_>) -> bool {
        self.frozen.is_some_and(|frozen| frame.revision > frozen)
    }
}
