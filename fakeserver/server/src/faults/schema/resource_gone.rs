//! A definition that is deleted for a while.

use fakeserver_value::status::Status;
use http::StatusCode;

use crate::faults::{
    Answer, CatalogueEntry, Definition, FrameFacts, FrameVerdict, Recovery, RequestFacts,
    RequestVerdict, Target,
};

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ResourceGone;

impl Definition for ResourceGone {
    const ENTRY: CatalogueEntry = CatalogueEntry {
        number: "F35",
        fault: "resource_gone",
        parameters: &[],
        effect: "Answers a request for a resource with 404, as while its definition is deleted, and ends a watch cleanly before its \
                 next frame. The objects stay stored, and are there again when the rule ends.",
        models: "a definition is away for a while: 404, and watches end",
        suffered: "client-go lists for ever, 250,000 log lines a day (kubernetes#79610, #142256)",
        target: Target::Requests,
        recovery: Recovery::Pause,
        properties: &[],
    };

    fn on_request(&self, request: &RequestFacts) -> Option<RequestVerdict> {
        // For a group without resources the server's mux answers.
        let answer = if request.group.is_empty() {
            Answer::of(&Status::unknown_resource())
        } else {
            Answer::text(StatusCode::NOT_FOUND, "404 page not found\n").without_sniffing()
        };
        Some(RequestVerdict::Answer(answer))
    }

    fn on_frame(&self, _: &FrameFacts<'_>) -> Option<FrameVerdict> {
        Some(FrameVerdict::End)
    }
}
