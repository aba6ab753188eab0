//! An overloaded server that asks its clients to come back later.

use http::{StatusCode, header};
use rand::{RngExt, rngs::ChaCha8Rng};
use serde::{Deserialize, Serialize};

use crate::faults::{
    Answer, CatalogueEntry, Definition, Recovery, RequestFacts, RequestVerdict, Target,
    definition::{is_default, pick},
};

/// The parameters of [`Fault::Throttle`](crate::faults::Fault::Throttle).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Throttle {
    /// Seconds in `Retry-After`, 1 by default.
    pub retry_after_seconds: u64,
    /// The form of the body.
    #[serde(skip_serializing_if = "is_default")]
    pub form: ThrottleForm,
}

/// The form of a 429.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
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
        }
    }
}

impl Definition for Throttle {
    const ENTRY: CatalogueEntry = CatalogueEntry {
        number: "F24",
        fault: "throttle",
        parameters: &["retryAfterSeconds", "form"],
        effect: "Answers a request with 429 and `Retry-After`. The body is a `text`, as priority and fairness sends it, or a \
                 `status`, as a server sends it whose cache is not ready.",
        models: "429 with Retry-After, as text by priority and fairness or as a Status while caches begin",
        suffered: "every client of a busy server",
        target: Target::Requests,
        // A plan asks for 20 s at most, which is less than the longest backoff.
        recovery: Recovery::Retry,
        properties: &[],
    };

    fn drawn(rng: &mut ChaCha8Rng) -> Self {
        Self {
            retry_after_seconds: rng.random_range(1..=20),
            form: pick(rng, &[ThrottleForm::Text, ThrottleForm::Status]),
        }
    }

    fn on_request(&self, _: &RequestFacts) -> Option<RequestVerdict> {
        let code = StatusCode::TOO_MANY_REQUESTS;
        let mut answer = match self.form {
            ThrottleForm::Text => {
                Answer::text(code, "Too many requests, please try again later.\n")
                    .without_sniffing()
            }
            ThrottleForm::Status => {
                let message = "storage is (re)initializing";
                Answer::status(code, Some("TooManyRequests"), message)
            }
        };
        let seconds = self.retry_after_seconds;
        answer.headers.insert(header::RETRY_AFTER, seconds.into());
        Some(RequestVerdict::Answer(answer))
    }
}
