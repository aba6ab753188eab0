//! A replica that lags behind.

use std::time::Duration;

use rand::{RngExt, rngs::ChaCha8Rng};
use serde::{Deserialize, Serialize};

use super::is_of_replica;
use crate::faults::{
    CatalogueEntry, Definition, FrameFacts, FrameVerdict, Property, ReadBound, Recovery,
    RequestFacts, RequestVerdict, Target,
    catalogue::SHOWS_OLD_STATES,
    definition::{Problem, is_default, too_long},
};

/// The parameters of [`Fault::LaggingReplica`](crate::faults::Fault::LaggingReplica).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct LaggingReplica {
    /// Milliseconds by which it lags, 3,000 by default.
    pub lag_ms: u64,
    /// True if reads of the most recent state lag too.
    #[serde(skip_serializing_if = "is_default")]
    pub quorum: bool,
}

impl Default for LaggingReplica {
    fn default() -> Self {
        Self {
            lag_ms: 3_000,
            quorum: false,
        }
    }
}

impl Definition for LaggingReplica {
    const ENTRY: CatalogueEntry = CatalogueEntry {
        number: "F16",
        fault: "lagging_replica",
        parameters: &["lagMs", "quorum"],
        effect: "Shows reads the state of `lagMs` ago, and sends each change to watches that much later. A list or a get that names \
                 no version gets the most recent state, unless `quorum` is set: then it lags too, as at aggregated servers that \
                 answer everything from their caches.",
        models: "a replica comes after the others",
        suffered: "controllers that read what they have written (controller-runtime#741)",
        target: Target::Reads,
        recovery: Recovery::LateRetry,
        properties: &[Property::BreaksPromises, SHOWS_OLD_STATES],
    };

    fn problem(self) -> Option<Problem> {
        too_long("lagMs", self.lag_ms)
    }

    fn drawn(rng: &mut ChaCha8Rng) -> Self {
        Self {
            lag_ms: rng.random_range(10..10_000),
            quorum: false,
        }
    }

    fn on_request(&self, request: &RequestFacts) -> Option<RequestVerdict> {
        let bound = ReadBound::Age(Duration::from_millis(self.lag_ms));
        is_of_replica(request, self.quorum).then_some(RequestVerdict::BoundRead(bound))
    }

    fn on_frame(&self, frame: &FrameFacts<'_>) -> Option<FrameVerdict> {
        let lag = Duration::from_millis(self.lag_ms);
        let left = lag.checked_sub(frame.age?)?;
        (!left.is_zero()).then_some(FrameVerdict::Delay(left))
    }
}
