//! A server that has too much to do, and says when to come back.

use std::time::Duration;

use http::{HeaderValue, StatusCode, header};

use super::{Answer, Effect, NamedRule, RequestFacts, RequestVerdict};

/// See [`throttle`].
#[derive(Debug, Clone, Copy)]
pub struct Throttle {
    retry_after: Duration,
}

/// A request is answered with 429 and `Retry-After`, in whole seconds; the body is text, as priority and fairness sends it.
pub fn throttle(retry_after: Duration) -> NamedRule<Throttle> {
    NamedRule::new(Throttle { retry_after })
}

impl Effect for Throttle {
    const NAME: &'static str = "throttle";

    fn on_request(&self, _: &RequestFacts) -> Option<RequestVerdict> {
        let mut answer = Answer::new(
            StatusCode::TOO_MANY_REQUESTS,
            "Too many requests, please try again later.\n",
        );
        let headers = &mut answer.headers;
        headers.insert(header::RETRY_AFTER, self.retry_after.as_secs().into());
        headers.insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("text/plain; charset=utf-8"),
        );
        headers.insert(
            header::X_CONTENT_TYPE_OPTIONS,
            HeaderValue::from_static("nosniff"),
        );
        Some(RequestVerdict::Answer(answer))
    }
}
