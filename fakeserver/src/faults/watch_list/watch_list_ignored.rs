//! A server too old for streaming lists, which overlooks that it was asked for one.

use crate::faults::{Effect, NamedRule, RequestFacts, RequestVerdict};

/// See [`watch_list_ignored`].
#[derive(Debug, Clone, Copy)]
pub struct WatchListIgnored;

/// A watch that asks for its initial events is served as if it did not: the bookmark that ends them never comes.
pub fn watch_list_ignored() -> NamedRule<WatchListIgnored> {
    NamedRule::new(WatchListIgnored)
}

impl Effect for WatchListIgnored {
    fn name(&self) -> &'static str {
        "watch_list_ignored"
    }

    fn on_request(&mut self, request: &RequestFacts) -> Option<RequestVerdict> {
        request
            .is_watch_list
            .then_some(RequestVerdict::IgnoreWatchList)
    }
}
