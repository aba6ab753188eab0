//! A server that is newer than its clients.

use crate::faults::{
    Effect, FrameFacts, FrameVerdict, NamedRule, RequestFacts, RequestVerdict, Rewrite,
};

/// See [`unknown_fields`].
#[derive(Debug, Clone, Copy)]
pub struct UnknownFields;

/// Objects that are read as JSON have fields that nobody knows, at their top and in their metadata.
pub fn unknown_fields() -> NamedRule<UnknownFields> {
    NamedRule::new(UnknownFields)
}

impl Effect for UnknownFields {
    fn name(&self) -> &'static str {
        "unknown_fields"
    }

    fn on_request(&mut self, request: &RequestFacts) -> Option<RequestVerdict> {
        matches!(request.verb, "get" | "list")
            .then_some(RequestVerdict::Rewrite(Rewrite::UnknownFields))
    }

    fn on_frame(&mut self, frame: &FrameFacts<'_>) -> Option<FrameVerdict> {
        frame
            .is_event()
            .then_some(FrameVerdict::Rewrite(Rewrite::UnknownFields))
    }
}
