//! A token that does not count any more.

use crate::{
    faults::{Answer, Effect, NamedRule, RequestFacts, RequestVerdict},
    status::Status,
};

/// See [`unauthorized`].
#[derive(Debug, Clone, Copy)]
pub struct Unauthorized;

/// A request is answered with 401, as after its token was rotated. Watches that are open go on.
pub fn unauthorized() -> NamedRule<Unauthorized> {
    NamedRule::new(Unauthorized)
}

impl Effect for Unauthorized {
    fn name(&self) -> &'static str {
        "unauthorized"
    }

    fn on_request(&mut self, _: &RequestFacts) -> Option<RequestVerdict> {
        let status = Status::unauthorized();
        Some(RequestVerdict::Answer(Answer::of(&status)))
    }
}
