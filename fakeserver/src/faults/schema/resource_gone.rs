//! A definition that was deleted, for a while.

use http::StatusCode;

use crate::{
    faults::{Answer, Effect, FrameFacts, FrameVerdict, NamedRule, RequestFacts, RequestVerdict},
    status::Status,
};

/// See [`resource_gone`].
#[derive(Debug, Clone, Copy)]
pub struct ResourceGone;

/// A request for a resource is answered with 404, as while its definition is away, and a watch ends cleanly before its next
/// frame. Its objects stay where they are, and are seen again when the rule is.
pub fn resource_gone() -> NamedRule<ResourceGone> {
    NamedRule::new(ResourceGone)
}

impl Effect for ResourceGone {
    fn name(&self) -> &'static str {
        "resource_gone"
    }

    fn on_request(&mut self, request: &RequestFacts) -> Option<RequestVerdict> {
        // Of a group whose last resource has gone, nobody is left to answer but the server's mux.
        let answer = if request.group.is_empty() {
            Answer::of(&Status::unknown_resource())
        } else {
            Answer::text(StatusCode::NOT_FOUND, "404 page not found\n").without_sniffing()
        };
        Some(RequestVerdict::Answer(answer))
    }

    fn on_frame(&mut self, _: &FrameFacts<'_>) -> Option<FrameVerdict> {
        Some(FrameVerdict::End)
    }
}
