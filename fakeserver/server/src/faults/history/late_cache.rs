//! A watch cache that does not catch up with the store.

use std::time::Duration;

use fakeserver_value::status::Status;
use rand::{RngExt, rngs::ChaCha8Rng};
use serde::{Deserialize, Serialize};

use crate::faults::{
    Answer, CatalogueEntry, Definition, Property, Recovery, RequestFacts, RequestVerdict, Target,
    definition::{Problem, too_long},
};

/// The parameters of [`Fault::LateCache`](crate::faults::Fault::LateCache).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct LateCache {
    /// Milliseconds before the answer, 3,000 by default.
    pub wait_ms: u64,
}

impl Default for LateCache {
    fn default() -> Self {
        Self { wait_ms: 3_000 }
    }
}

impl Definition for LateCache {
    const ENTRY: CatalogueEntry = CatalogueEntry {
        number: "F14",
        fault: "late_cache",
        parameters: &["waitMs"],
        effect: "Lets a list of the most recent state wait for `waitMs`, three seconds at a real server. With the feature gate \
                 `ConsistentListFromCacheSkipTimeoutFallback` the answer is 429 with `Retry-After` then; without it, the list \
                 is read from the store. A streaming list receives an ERROR event with 504.",
        models: "a watch cache behind the store: lists are late, or 429 with Retry-After",
        suffered: "servers whose stores were overloaded by such lists (kubernetes#138494)",
        target: Target::Reads,
        recovery: Recovery::LateRetry,
        properties: &[
            Property::ServerOnly("only the server has the cache that is late"),
            Property::NotDrawn("without the feature gate it is a late answer, as `latency` makes"),
        ],
    };

    fn problem(self) -> Option<Problem> {
        too_long("waitMs", self.wait_ms)
    }

    fn drawn(rng: &mut ChaCha8Rng) -> Self {
        Self {
            wait_ms: rng.random_range(0..=3_000),
        }
    }

    fn on_request(&self, request: &RequestFacts) -> Option<RequestVerdict> {
        // Other reads do not need the most recent state: the cache serves them as it is.
        if !request.resource_version.is_empty() || request.has_continue {
            return None;
        }
        let after = Duration::from_millis(self.wait_ms);
        match request.verb {
            "list" => Some(RequestVerdict::LateCache(after)),
            "watch" if request.is_watch_list => {
                let now = request.revision;
                let status = Status::version_too_large(now, now.saturating_sub(1));
                let answer = Answer::error_event(&status);
                Some(RequestVerdict::AnswerLater { after, answer })
            }
            _ => None,
        }
    }
}
