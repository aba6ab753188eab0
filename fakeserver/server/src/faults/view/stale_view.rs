//! A replica that stands still.

use rand::rngs::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::is_of_replica;
use crate::faults::{
    CatalogueEntry, Definition, FrameFacts, FrameVerdict, Property, ReadBound, Recovery,
    RequestFacts, RequestVerdict, Target,
    catalogue::SHOWS_OLD_STATES,
    definition::{is_default, pick},
    fault_rule::Effect,
};

/// The parameters of [`Fault::StaleView`](crate::faults::Fault::StaleView).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct StaleView {
    /// The number of revisions between the present and the frozen state.
    #[serde(skip_serializing_if = "is_default")]
    pub behind_revisions: u64,
    /// True if reads of the most recent state are stale too.
    #[serde(skip_serializing_if = "is_default")]
    pub quorum: bool,
}

#[derive(Debug)]
struct FrozenView {
    parameters: StaleView,
    /// The revision at which the view stands still, from the first occasion on.
    at: Option<u64>,
}

impl Definition for StaleView {
    const ENTRY: CatalogueEntry = CatalogueEntry {
        number: "F16",
        fault: "stale_view",
        parameters: &["behindRevisions", "quorum"],
        effect: "Shows reads the state of the first occasion, or of `behindRevisions` before, and holds back newer frames of \
                 watches until the rule ends. A list or a get without a version gets the most recent state, unless `quorum` \
                 is set. One with a later version gets 504 after three seconds. With `times` that many reads are stale, and \
                 no frame is held back.",
        models: "a replica stands still while others go on, and then jumps",
        suffered: "Sieve: 19 of its 46 bugs are stale states; client-go (kubernetes#59848)",
        target: Target::Reads,
        recovery: Recovery::LateRetry,
        properties: &[Property::BreaksPromises, SHOWS_OLD_STATES],
    };

    fn drawn(rng: &mut ChaCha8Rng) -> Self {
        Self {
            behind_revisions: pick(rng, &[0, 0, 1, 5, 20]),
            quorum: false,
        }
    }

    fn effect(self) -> Box<dyn Effect> {
        Box::new(FrozenView {
            parameters: self,
            at: None,
        })
    }
}

impl Effect for FrozenView {
    fn on_request(&mut self, request: &RequestFacts) -> Option<RequestVerdict> {
        let StaleView {
            behind_revisions,
            quorum,
        } = self.parameters;
        if !is_of_replica(request, quorum) {
            return None;
        }
        let now = request.revision.saturating_sub(behind_revisions);
        let bound = ReadBound::Revision(*self.at.get_or_insert(now));
        Some(RequestVerdict::BoundRead(bound))
    }

    fn on_frame(&mut self, frame: &FrameFacts<'_>) -> Option<FrameVerdict> {
        if frame.is_initial {
            return None;
        }
        let behind = 1 + self.parameters.behind_revisions;
        let before = frame.revision.saturating_sub(behind);
        let at = *self.at.get_or_insert(before);
        (frame.revision > at).then_some(FrameVerdict::Hold)
    }

    fn holds(&self, frame: &FrameFacts<'_>) -> bool {
        self.at.is_some_and(|at| frame.revision > at)
    }
}
