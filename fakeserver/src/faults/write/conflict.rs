//! Somebody else is always quicker.

use crate::{
    faults::{Answer, Effect, NamedRule, RequestFacts, RequestVerdict},
    status::Status,
};

/// See [`conflict`].
#[derive(Debug, Clone, Copy)]
pub struct Conflict;

/// An update or a patch is answered with 409: the object has been modified.
pub fn conflict() -> NamedRule<Conflict> {
    NamedRule::new(Conflict)
}

impl Effect for Conflict {
    fn name(&self) -> &'static str {
        "conflict"
    }

    fn on_request(&mut self, request: &RequestFacts) -> Option<RequestVerdict> {
        let status = match request.verb {
            "update" | "patch" => Status::stale(request.named()),
            _ => return None,
        };
        Some(RequestVerdict::Answer(Answer::of(&status)))
    }
}
