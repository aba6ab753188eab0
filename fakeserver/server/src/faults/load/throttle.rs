//! An overloaded server that asks its clients to come back later.

use fakeserver_value::status::Status;
use http::{StatusCode, header};
use rand::{RngExt, rngs::ChaCha8Rng};
use serde::{Deserialize, Serialize};

use crate::faults::{
    Answer, CatalogueEntry, Definition, Recovery, RequestFacts, RequestVerdict, Target,
    definition::{is_default, pick},
};

/// The parameters of [`Fault::Throttle`](crate::faults::Fault::Throttle).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Throttle {
    /// Seconds in `Retry-After`, 1 by default.
    pub retry_after_seconds: u64,
    /// The form of the body.
    #[serde(skip_serializing_if = "is_default")]
    pub form: ThrottleForm,
    /// Seconds in the details of the form `status`, which the header may contradict; 0, the default, for none.
    #[serde(skip_serializing_if = "is_default")]
    pub status_retry_after_seconds: u32,
}

/// The form of a 429.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ThrottleForm {
    /// A text, as priority and fairness sends it.
    #[default]
    Text,
    /// A `Status`, as a server sends it whose cache is not ready.
    Status,
}

impl Default for Throttle {
    fn default() -> Self {
        Self {
            retry_after_seconds: 1,
            form: ThrottleForm::Text,
            status_retry_after_seconds: 0,
        }
    }
}

impl Definition for Throttle {
    const ENTRY: CatalogueEntry = CatalogueEntry {
        number: "F24",
        fault: "throttle",
        parameters: &["retryAfterSeconds", "form", "statusRetryAfterSeconds"],
        effect: "Answers a request with 429 and `Retry-After`. The body is a `text`, as priority and fairness sends it, or a \
                 `status`, as a server sends it whose cache is not ready, with `statusRetryAfterSeconds` in its details if \
                 that is not 0.",
        models: "429 with Retry-After, as text by priority and fairness or as a Status while caches begin",
        suffered: "every client of a busy server",
        target: Target::Requests,
        recovery: Recovery::Retry,
        properties: &[],
    };

    fn drawn(rng: &mut ChaCha8Rng) -> Self {
        let form = pick(rng, &[ThrottleForm::Text, ThrottleForm::Status]);
        Self {
            retry_after_seconds: seconds(rng).into(),
            status_retry_after_seconds: match form {
                ThrottleForm::Text => 0,
                ThrottleForm::Status => seconds(rng),
            },
            form,
        }
    }

    fn on_request(&self, _: &RequestFacts) -> Option<RequestVerdict> {
        let mut answer = match self.form {
            ThrottleForm::Text => {
                let text = "Too many requests, please try again later.\n";
                Answer::text(StatusCode::TOO_MANY_REQUESTS, text).without_sniffing()
            }
            ThrottleForm::Status => Answer::of(&Status::storage_initializing(
                self.status_retry_after_seconds,
            )),
        };
        let seconds = self.retry_after_seconds;
        answer.headers.insert(header::RETRY_AFTER, seconds.into());
        Some(RequestVerdict::Answer(answer))
    }
}

/// Draws a `Retry-After`: mostly that of a busy server, at times longer than a client's maximum backoff, or longer than
/// any client waits.
fn seconds(rng: &mut ChaCha8Rng) -> u32 {
    match rng.random_range(0..8) {
        0 => rng.random_range(31..=300),
        1 => rng.random_range(301..=900),
        _ => rng.random_range(1..=20),
    }
}
