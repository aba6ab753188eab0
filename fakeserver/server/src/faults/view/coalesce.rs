//! States that no client sees.

use std::time::Duration;

use rand::rngs::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::faults::{
    CatalogueEntry, Definition, EventType, FrameFacts, FrameVerdict, Property, Recovery, Target,
    catalogue::SHOWS_OLD_STATES,
    definition::{Problem, pick, too_long},
};

/// The parameters of [`Fault::Coalesce`](crate::faults::Fault::Coalesce).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Coalesce {
    /// Milliseconds that a change waits for the next one, 100 by default.
    pub window_ms: u64,
}

impl Default for Coalesce {
    fn default() -> Self {
        Self { window_ms: 100 }
    }
}

impl Definition for Coalesce {
    const ENTRY: CatalogueEntry = CatalogueEntry {
        number: "F18",
        fault: "coalesce",
        parameters: &["windowMs"],
        effect: "Delays a modification by `windowMs`, and leaves it out if its object has changed again by then: clients see the \
                 last of several states. Additions and deletions are always sent.",
        models: "states come and go before a client looks",
        suffered: "Sieve: 7 of its 46 bugs are unobserved states",
        target: Target::Reads,
        recovery: Recovery::Late,
        properties: &[Property::BreaksPromises, SHOWS_OLD_STATES],
    };

    fn problem(self) -> Option<Problem> {
        too_long("windowMs", self.window_ms)
    }

    fn drawn(rng: &mut ChaCha8Rng) -> Self {
        Self {
            window_ms: pick(rng, &[10, 100, 1_000, 5_000]),
        }
    }

    fn on_frame(&self, frame: &FrameFacts<'_>) -> Option<FrameVerdict> {
        let is_change = frame.event == EventType::Modified && !frame.is_initial;
        let window = Duration::from_millis(self.window_ms);
        is_change.then_some(FrameVerdict::Coalesce(window))
    }
}
