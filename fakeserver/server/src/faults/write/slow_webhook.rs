//! A slow admission webhook.

use std::time::Duration;

use fakeserver_value::status::Status;
use serde::{Deserialize, Serialize};

use crate::faults::{
    Answer, CatalogueEntry, Definition, Recovery, RequestFacts, RequestVerdict, Target,
    definition::{Problem, is_default, too_long},
};

/// The parameters of [`Fault::SlowWebhook`](crate::faults::Fault::SlowWebhook).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct SlowWebhook {
    /// Milliseconds that the webhook takes, 3,000 by default.
    pub takes_ms: u64,
    /// True if the write is rejected then.
    #[serde(skip_serializing_if = "is_default")]
    pub times_out: bool,
}

impl Default for SlowWebhook {
    fn default() -> Self {
        Self {
            takes_ms: 3_000,
            times_out: false,
        }
    }
}

impl Definition for SlowWebhook {
    const ENTRY: CatalogueEntry = CatalogueEntry {
        number: "F34",
        fault: "slow_webhook",
        parameters: &["takesMs", "timesOut"],
        effect: "Serves a write `takesMs` later, as if a webhook was asked. With `timesOut` it is refused then with 500, since the \
                 webhook did not answer in time.",
        models: "a webhook takes its time, and may get no more of it",
        suffered: "clients with short time limits",
        target: Target::Writes,
        recovery: Recovery::Unaffected,
        properties: &[],
    };

    fn problem(self) -> Option<Problem> {
        too_long("takesMs", self.takes_ms)
    }

    fn on_request(&self, request: &RequestFacts) -> Option<RequestVerdict> {
        if !request.is_write() {
            return None;
        }
        let after = Duration::from_millis(self.takes_ms);
        if !self.times_out {
            return Some(RequestVerdict::Delay(after));
        }
        let seconds = after.as_secs().max(1);
        let status = Status::internal(&format!(
            "failed calling webhook \"fault.fakeserver.dev\": failed to call webhook: Post \
             \"https://fault.fakeserver.dev/?timeout={seconds}s\": context deadline exceeded"
        ));
        let answer = Answer::of(&status);
        Some(RequestVerdict::AnswerLater { after, answer })
    }
}
