//! Changes of objects while a streaming list is sent.

use std::time::Duration;

use rand::{RngExt, rngs::ChaCha8Rng};
use serde::{Deserialize, Serialize};

use crate::faults::{
    CatalogueEntry, Definition, FrameFacts, FrameVerdict, Recovery, Target,
    catalogue::REORDERS_INITIAL_EVENTS,
    definition::{Problem, too_long},
};

/// The parameters of [`Fault::ChangedDuringInitialEvents`](crate::faults::Fault::ChangedDuringInitialEvents).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ChangedDuringInitialEvents {
    /// Milliseconds by which the end of the initial events is delayed, 3,000 by default.
    pub lasting_ms: u64,
}

impl Default for ChangedDuringInitialEvents {
    fn default() -> Self {
        Self { lasting_ms: 3_000 }
    }
}

impl Definition for ChangedDuringInitialEvents {
    const ENTRY: CatalogueEntry = CatalogueEntry {
        number: "F38",
        fault: "changed_during_initial_events",
        parameters: &["lastingMs"],
        effect: "Sends the bookmark that ends the initial events `lastingMs` later, with its version of that moment. Changes \
                 meanwhile come before it, so that an object may be modified or deleted before its client knows that it has \
                 them all.",
        models: "objects change and go before the initial events have ended",
        suffered: "kube-runtime 5.0: what is deleted then stays in its store",
        target: Target::StreamingLists,
        recovery: Recovery::Retry,
        properties: &[REORDERS_INITIAL_EVENTS],
    };

    fn problem(self) -> Option<Problem> {
        too_long("lastingMs", self.lasting_ms)
    }

    fn drawn(rng: &mut ChaCha8Rng) -> Self {
        Self {
            lasting_ms: rng.random_range(1..5_000),
        }
    }

    fn on_frame(&self, frame: &FrameFacts<'_>) -> Option<FrameVerdict> {
        let delay = Duration::from_millis(self.lasting_ms);
        frame
            .is_initial_events_end
            .then_some(FrameVerdict::PostponeEnd(delay))
    }
}
