//! A token that is no longer valid.

use fakeserver_value::status::Status;

use crate::faults::{
    Answer, CatalogueEntry, Definition, Recovery, RequestFacts, RequestVerdict, Target,
};

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Unauthorized;

impl Definition for Unauthorized {
    const ENTRY: CatalogueEntry = CatalogueEntry {
        number: "F29",
        fault: "unauthorized",
        parameters: &[],
        effect: "Answers a request with 401, as after its token was rotated. Open watches go on.",
        models: "401: a token was rotated",
        suffered: "clients that read their token once",
        target: Target::Requests,
        recovery: Recovery::Retry,
        properties: &[],
    };

    fn on_request(&self, _: &RequestFacts) -> Option<RequestVerdict> {
        let answer = Answer::of(&Status::unauthorized());
        Some(RequestVerdict::Answer(answer))
    }
}
