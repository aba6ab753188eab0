//! A server with streaming lists switched off.

use http::StatusCode;

use crate::faults::{Answer, Effect, NamedRule, RequestFacts, RequestVerdict};

/// See [`watch_list_rejected`].
#[derive(Debug, Clone, Copy)]
pub struct WatchListRejected;

/// A watch that asks for its initial events is answered with 422.
pub fn watch_list_rejected() -> NamedRule<WatchListRejected> {
    NamedRule::new(WatchListRejected)
}

impl Effect for WatchListRejected {
    fn name(&self) -> &'static str {
        "watch_list_rejected"
    }

    fn on_request(&mut self, request: &RequestFacts) -> Option<RequestVerdict> {
        request.is_watch_list.then(|| {
            RequestVerdict::Answer(Answer::status(
                StatusCode::UNPROCESSABLE_ENTITY,
                Some("Invalid"),
                concat!(
                    "ListOptions.meta.k8s.io \"\" is invalid: sendInitialEvents: Forbidden: ",
                    "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled",
                ),
            ))
        })
    }
}
