//! A creation that was made twice on its way.

use crate::{
    faults::{Answer, Effect, NamedRule, RequestFacts, RequestVerdict},
    status::{Named, Status},
};

/// See [`already_exists`].
#[derive(Debug, Clone, Copy)]
pub struct AlreadyExists;

/// A creation takes effect, but its client is told 409, `AlreadyExists`: the answer was lost on its way, and something in
/// between has sent the request once more.
///
/// The answer names no object, since the name is in the body.
pub fn already_exists() -> NamedRule<AlreadyExists> {
    NamedRule::new(AlreadyExists)
}

impl Effect for AlreadyExists {
    fn name(&self) -> &'static str {
        "already_exists"
    }

    fn on_request(&mut self, request: &RequestFacts) -> Option<RequestVerdict> {
        let is_creation = request.verb == "create" && request.subresource.is_none();
        let object = Named {
            name: "",
            ..request.named()
        };
        is_creation.then(|| {
            let answer = Answer::of(&Status::already_exists(object, false));
            RequestVerdict::Lose(Some(answer))
        })
    }
}
