//! A limit on the size of writes.

use fakeserver_value::status::Status;

use crate::faults::{
    Answer, CatalogueEntry, Definition, Recovery, RequestFacts, RequestVerdict, Target,
};

/// The limit of a real server.
const LIMIT_BYTES: usize = 3 << 20;

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct EntityTooLarge;

impl Definition for EntityTooLarge {
    const ENTRY: CatalogueEntry = CatalogueEntry {
        number: "F37",
        fault: "entity_too_large",
        parameters: &[],
        effect: "Answers a write of any size with 413.",
        models: "413: a write is larger than a server or an intermediary takes",
        suffered: "controllers that gather status without a bound",
        target: Target::Writes,
        recovery: Recovery::Unaffected,
        properties: &[],
    };

    fn on_request(&self, request: &RequestFacts) -> Option<RequestVerdict> {
        let status = Status::body_too_large(LIMIT_BYTES);
        request
            .is_write()
            .then(|| RequestVerdict::Answer(Answer::of(&status)))
    }
}
