//! A server that is newer than its clients.

use crate::faults::{
    CatalogueEntry, Definition, FrameFacts, FrameVerdict, Recovery, RequestFacts, RequestVerdict,
    Rewrite, Target,
};

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct UnknownFields;

impl Definition for UnknownFields {
    const ENTRY: CatalogueEntry = CatalogueEntry {
        number: "F37",
        fault: "unknown_fields",
        parameters: &[],
        effect: "Adds unknown fields to each object that is read as JSON, at its top and in its metadata.",
        models: "a server is newer than its clients",
        suffered: "clients that refuse what they do not know",
        target: Target::Reads,
        recovery: Recovery::Unaffected,
        properties: &[],
    };

    fn on_request(&self, request: &RequestFacts) -> Option<RequestVerdict> {
        matches!(request.verb, "get" | "list")
            .then_some(RequestVerdict::Rewrite(Rewrite::UnknownFields))
    }

    fn on_frame(&self, frame: &FrameFacts<'_>) -> Option<FrameVerdict> {
        frame
            .is_event()
            .then_some(FrameVerdict::Rewrite(Rewrite::UnknownFields))
    }
}
