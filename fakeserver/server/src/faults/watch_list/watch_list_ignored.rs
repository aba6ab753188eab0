//! A server too old for streaming lists.

use crate::faults::{CatalogueEntry, Definition, Recovery, RequestFacts, RequestVerdict, Target};

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct WatchListIgnored;

impl Definition for WatchListIgnored {
    const ENTRY: CatalogueEntry = CatalogueEntry {
        number: "F38",
        fault: "watch_list_ignored",
        parameters: &[],
        effect: "Serves a watch that asks for its initial events as if it did not: the bookmark that ends them never comes.",
        models: "an old server overlooks sendInitialEvents",
        suffered: "kube-runtime 5.0: never ready",
        target: Target::StreamingLists,
        // A stream that began as a plain watch ends when it stays silent, or else by this timeout.
        recovery: Recovery::RequestTimeout,
        properties: &[],
    };

    fn on_request(&self, request: &RequestFacts) -> Option<RequestVerdict> {
        request
            .is_watch_list
            .then_some(RequestVerdict::IgnoreWatchList)
    }
}
