//! A replica that has not reached the version of its client.

use std::time::Duration;

use fakeserver_value::status::Status;
use rand::{RngExt, rngs::ChaCha8Rng};
use serde::{Deserialize, Serialize};

use crate::faults::{
    Answer, CatalogueEntry, Definition, Recovery, RequestFacts, RequestVerdict, Target,
    definition::{Problem, too_long},
};

/// The parameters of [`Fault::VersionTooLarge`](crate::faults::Fault::VersionTooLarge).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct VersionTooLarge {
    /// Milliseconds before the answer, 3,000 by default.
    pub wait_ms: u64,
}

impl Default for VersionTooLarge {
    fn default() -> Self {
        Self { wait_ms: 3_000 }
    }
}

impl Definition for VersionTooLarge {
    const ENTRY: CatalogueEntry = CatalogueEntry {
        number: "F14",
        fault: "version_too_large",
        parameters: &["waitMs"],
        effect: "Lets a read that names a version (a list, a get, a streaming list) wait for `waitMs`, three seconds at a real \
                 server, and answers with 504: the server has not reached that version. A watch receives an ERROR event.",
        models: "a replica that has not come as far as its client: 504 after three seconds",
        suffered: "client-go against fresh servers (kubernetes#107133, #91073)",
        target: Target::Reads,
        recovery: Recovery::LateRetry,
        properties: &[],
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
        let requested = request.requested_version()?;
        let status = Status::version_too_large(requested, requested - 1);
        // Neither a continuation nor a watch that resumes waits for a version.
        let answer = match request.verb {
            "get" => Answer::of(&status),
            "list" if !request.has_continue => Answer::of(&status),
            "watch" if request.is_watch_list => Answer::error_event(&status),
            _ => return None,
        };
        let after = Duration::from_millis(self.wait_ms);
        Some(RequestVerdict::AnswerLater { after, answer })
    }
}
