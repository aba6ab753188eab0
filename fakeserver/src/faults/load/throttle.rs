//! A server that has too much to do, and says when to come back.

use std::time::Duration;

use http::{StatusCode, header};
use serde::{Deserialize, Serialize};

use crate::faults::{Answer, Effect, NamedRule, RequestFacts, RequestVerdict};

/// How 429 is said.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ThrottleForm {
    /// With text, as priority and fairness says it.
    #[default]
    Text,
    /// With a `Status`, as a server says it whose cache is not ready.
    Status,
}

/// See [`throttle`].
#[derive(Debug, Clone, Copy)]
pub struct Throttle {
    retry_after: Duration,
    form: ThrottleForm,
}

/// A request is answered with 429 and `Retry-After`, in whole seconds; the body is text, as priority and fairness sends it.
pub fn throttle(retry_after: Duration) -> NamedRule<Throttle> {
    NamedRule::new(Throttle {
        retry_after,
        form: ThrottleForm::Text,
    })
}

// === impl Throttle ===

impl NamedRule<Throttle> {
    /// The body is of this form.
    pub fn with_form(mut self, form: ThrottleForm) -> Self {
        self.effect_mut().form = form;
        self
    }
}

impl Effect for Throttle {
    fn name(&self) -> &'static str {
        "throttle"
    }

    fn on_request(&mut self, _: &RequestFacts) -> Option<RequestVerdict> {
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
        let seconds = self.retry_after.as_secs();
        answer.headers.insert(header::RETRY_AFTER, seconds.into());
        Some(RequestVerdict::Answer(answer))
    }
}
