//! A connection that breaks in the middle of a list.

use crate::faults::{BodyFault, Effect, NamedRule, RequestFacts, RequestVerdict};

/// See [`reset_mid_body`].
#[derive(Debug, Clone, Copy)]
pub struct ResetMidBody;

/// Half of the body of a list or a get is sent, and then the transport fails.
pub fn reset_mid_body() -> NamedRule<ResetMidBody> {
    NamedRule::new(ResetMidBody)
}

impl Effect for ResetMidBody {
    fn name(&self) -> &'static str {
        "reset_mid_body"
    }

    fn on_request(&mut self, request: &RequestFacts) -> Option<RequestVerdict> {
        matches!(request.verb, "get" | "list").then_some(RequestVerdict::Body(BodyFault::Break))
    }
}
