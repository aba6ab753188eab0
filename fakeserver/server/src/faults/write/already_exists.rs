//! A create that an intermediary sends twice.

use fakeserver_value::status::{NamedObject, Status};

use crate::faults::{
    Answer, CatalogueEntry, Definition, Recovery, Replacement, RequestFacts, RequestVerdict, Target,
};

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct AlreadyExists;

impl Definition for AlreadyExists {
    const ENTRY: CatalogueEntry = CatalogueEntry {
        number: "F32",
        fault: "already_exists",
        parameters: &[],
        effect: "Creates the object, and answers with 409, `AlreadyExists`, as if the answer was lost and an intermediary repeated \
                 the request. The answer names no object, since the name is in the body.",
        models: "409 for a create that took effect: an intermediary sent it twice",
        suffered: "controllers that take it for an object of another controller",
        target: Target::Writes,
        recovery: Recovery::Unaffected,
        properties: &[],
    };

    fn on_request(&self, request: &RequestFacts) -> Option<RequestVerdict> {
        let is_create = request.verb == "create" && request.subresource.is_none();
        let object = NamedObject {
            name: "",
            ..request.named()
        };
        is_create.then(|| {
            let answer = Answer::of(&Status::already_exists(object, false));
            RequestVerdict::ReplaceAnswer(Replacement::Answer(answer))
        })
    }
}
