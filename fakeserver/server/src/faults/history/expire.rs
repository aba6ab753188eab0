//! A removal of history for lists and watches.

use crate::faults::{
    Action, CatalogueEntry, Definition, Property, Recovery, RequestFacts, RequestVerdict, Target,
    catalogue::REMOVES_HISTORY,
};

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Expire;

impl Definition for Expire {
    const ENTRY: CatalogueEntry = CatalogueEntry {
        number: "F10",
        fault: "expire",
        parameters: &[],
        effect: "Removes history before a request is served, for watches too: a watch that begins at an older version receives \
                 an ERROR event with 410. Open watches go on.",
        models: "history is forgotten for lists and watches",
        suffered: "clients that resume a watch after a long break",
        target: Target::Reads,
        recovery: Recovery::Retry,
        properties: &[Property::ExpiresVersions, REMOVES_HISTORY],
    };

    fn on_request(&self, _: &RequestFacts) -> Option<RequestVerdict> {
        Some(RequestVerdict::Perform(Action::Expire))
    }
}
