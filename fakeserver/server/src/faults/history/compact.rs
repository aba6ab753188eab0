//! A compaction of history for lists.

use crate::faults::{
    Action, CatalogueEntry, Definition, Property, Recovery, RequestFacts, RequestVerdict, Target,
    catalogue::REMOVES_HISTORY,
};

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Compact;

impl Definition for Compact {
    const ENTRY: CatalogueEntry = CatalogueEntry {
        number: "F10",
        fault: "compact",
        parameters: &[],
        effect: "Removes history before a request is served: lists of older versions, and continuations of older lists, are \
                 answered with 410 from then on. Watches go on.",
        models: "history is forgotten for lists: continuations meet 410",
        suffered: "kube-runtime 5.0: 1,000 lists in ten minutes, never complete",
        target: Target::Reads,
        recovery: Recovery::Retry,
        properties: &[Property::ExpiresVersions, REMOVES_HISTORY],
    };

    fn on_request(&self, _: &RequestFacts) -> Option<RequestVerdict> {
        Some(RequestVerdict::Perform(Action::Compact))
    }
}
