//! A server or a proxy that takes long to send the status line and the headers of an answer.

use std::time::Duration;

use rand::rngs::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::faults::{
    CatalogueEntry, Definition, Recovery, RequestFacts, RequestVerdict, Target,
    definition::{Problem, pick, too_long},
};

/// The parameters of [`Fault::SlowHeaders`](crate::faults::Fault::SlowHeaders).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct SlowHeaders {
    /// Milliseconds between the end of the request's execution and the headers, 3,000 by default.
    pub delay_ms: u64,
}

impl Default for SlowHeaders {
    fn default() -> Self {
        Self { delay_ms: 3_000 }
    }
}

impl Definition for SlowHeaders {
    const ENTRY: CatalogueEntry = CatalogueEntry {
        number: "F28",
        fault: "slow_headers",
        parameters: &["delayMs"],
        effect: "Serves a request at once, and sends status and headers of the answer `delayMs` later; the body follows without \
                 a delay, that of a watch with all events meanwhile. A write has taken effect when its client gives up.",
        models: "a request is carried out, and its headers come late",
        suffered: "clients without a time limit for headers, or that take a write for undone once it has passed",
        target: Target::Requests,
        recovery: Recovery::RequestTimeout,
        properties: &[],
    };

    fn problem(self) -> Option<Problem> {
        too_long("delayMs", self.delay_ms)
    }

    fn drawn(rng: &mut ChaCha8Rng) -> Self {
        // Time limits for headers are between some seconds and a minute.
        Self {
            delay_ms: pick(rng, &[50, 500, 3_000, 20_000, 100_000]),
        }
    }

    fn on_request(&self, _: &RequestFacts) -> Option<RequestVerdict> {
        let delay = Duration::from_millis(self.delay_ms);
        Some(RequestVerdict::DelayHead(delay))
    }
}
