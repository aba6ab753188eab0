//! A server with streaming lists switched off.

use http::StatusCode;

use crate::faults::{
    Answer, CatalogueEntry, Definition, Recovery, RequestFacts, RequestVerdict, Target,
};

const MESSAGE: &str = concat!(
    "ListOptions.meta.k8s.io \"\" is invalid: sendInitialEvents: Forbidden: ",
    "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled",
);

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct WatchListRejected;

impl Definition for WatchListRejected {
    const ENTRY: CatalogueEntry = CatalogueEntry {
        number: "F38",
        fault: "watch_list_rejected",
        parameters: &[],
        effect: "Answers a watch that asks for its initial events with 422.",
        models: "a server refuses sendInitialEvents with 422",
        suffered: "clients without a fallback",
        target: Target::StreamingLists,
        recovery: Recovery::Retry,
        properties: &[],
    };

    fn on_request(&self, request: &RequestFacts) -> Option<RequestVerdict> {
        request.is_watch_list.then(|| {
            let code = StatusCode::UNPROCESSABLE_ENTITY;
            RequestVerdict::Answer(Answer::status(code, Some("Invalid"), MESSAGE))
        })
    }
}
