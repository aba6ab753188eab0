//! 410 in its second form: the status of a request.

use http::StatusCode;

use super::{Answer, Effect, NamedRule, RequestFacts, RequestVerdict};

/// See [`expired_status`].
#[derive(Debug, Clone, Copy)]
pub struct ExpiredStatus;

/// A watch, a list at a version, or the continuation of a list is answered with 410.
pub fn expired_status() -> NamedRule<ExpiredStatus> {
    NamedRule::new(ExpiredStatus)
}

impl Effect for ExpiredStatus {
    const NAME: &'static str = "expired_status";

    fn on_request(&self, request: &RequestFacts) -> Option<RequestVerdict> {
        let reads_past =
            request.has_continue || !matches!(request.resource_version.as_str(), "" | "0");
        let message = match request.verb {
            "watch" if reads_past && !request.is_watch_list => "too old resource version",
            "list" if reads_past => "The resourceVersion for the provided list is too old.",
            _ => return None,
        };
        Some(RequestVerdict::Answer(Answer::status(
            StatusCode::GONE,
            Some("Expired"),
            message,
        )))
    }
}
