//! An update that loses a race.

use fakeserver_value::status::Status;

use crate::faults::{
    Answer, CatalogueEntry, Definition, Recovery, RequestFacts, RequestVerdict, Target,
};

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Conflict;

impl Definition for Conflict {
    const ENTRY: CatalogueEntry = CatalogueEntry {
        number: "F31",
        fault: "conflict",
        parameters: &[],
        effect: "Answers an update or a patch with 409: the object has been modified.",
        models: "409 for an update: another writer was quicker",
        suffered: "controllers without a retry",
        target: Target::Writes,
        recovery: Recovery::Unaffected,
        properties: &[],
    };

    fn on_request(&self, request: &RequestFacts) -> Option<RequestVerdict> {
        let status = match request.verb {
            "update" | "patch" => Status::stale(request.named()),
            _ => return None,
        };
        Some(RequestVerdict::Answer(Answer::of(&status)))
    }
}
