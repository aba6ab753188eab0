//! All watches that end at once.

use crate::faults::{
    Action, CatalogueEntry, Definition, Recovery, RequestFacts, RequestVerdict, Target,
};

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Disconnect;

impl Definition for Disconnect {
    const ENTRY: CatalogueEntry = CatalogueEntry {
        number: "F1",
        fault: "disconnect",
        parameters: &[],
        effect: "Ends all open watches of the server cleanly, those of other clients included, before a request is served.",
        models: "a server restarts: all open watches end",
        suffered: "clients that all list again at once (kubernetes#6770, #22669)",
        target: Target::Reads,
        recovery: Recovery::Retry,
        properties: &[],
    };

    fn on_request(&self, _: &RequestFacts) -> Option<RequestVerdict> {
        Some(RequestVerdict::Perform(Action::Disconnect))
    }
}
