//! Changes that are seen through a list only.

use std::time::Duration;

use fakeserver_value::status::Status;
use rand::rngs::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::faults::{
    CatalogueEntry, Definition, FrameFacts, FrameVerdict, Property, Recovery, Target,
    definition::{Problem, pick, too_long},
    verdict::error_frame,
};

/// The parameters of [`Fault::Unobserved`](crate::faults::Fault::Unobserved).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Unobserved {
    /// Milliseconds of silence before the 410, 3,000 by default.
    pub lasting_ms: u64,
}

impl Default for Unobserved {
    fn default() -> Self {
        Self { lasting_ms: 3_000 }
    }
}

impl Definition for Unobserved {
    const ENTRY: CatalogueEntry = CatalogueEntry {
        number: "F18",
        fault: "unobserved",
        parameters: &["lastingMs"],
        effect: "Silences a watch for `lastingMs` from a frame on, and ends it with 410: changes meanwhile are seen through a list \
                 only. An object that was deleted and created again looks like a changed one with another uid.",
        models: "changes are seen through a list only: an object deleted and created again has another uid",
        suffered: "client-go: a deletion and a creation fold into an update (kubernetes#83810)",
        target: Target::Reads,
        recovery: Recovery::Retry,
        properties: &[Property::ExpiresVersions, Property::BreaksPromises],
    };

    fn problem(self) -> Option<Problem> {
        too_long("lastingMs", self.lasting_ms)
    }

    fn drawn(rng: &mut ChaCha8Rng) -> Self {
        Self {
            lasting_ms: pick(rng, &[10, 1_000, 10_000]),
        }
    }

    fn on_frame(&self, frame: &FrameFacts<'_>) -> Option<FrameVerdict> {
        if frame.is_initial {
            return None;
        }
        let status = Status::watch_expired(frame.revision.saturating_sub(1), frame.revision);
        Some(FrameVerdict::EndLater {
            after: Duration::from_millis(self.lasting_ms),
            with: error_frame(&status),
        })
    }
}
