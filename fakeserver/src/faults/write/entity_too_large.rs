//! A write that is larger than somebody lets pass.

use crate::{
    faults::{Answer, Effect, NamedRule, RequestFacts, RequestVerdict},
    status::Status,
};

/// The limit of a real server.
const LIMIT_BYTES: usize = 3 << 20;

/// See [`entity_too_large`].
#[derive(Debug, Clone, Copy)]
pub struct EntityTooLarge;

/// A write is answered with 413, whatever its size.
pub fn entity_too_large() -> NamedRule<EntityTooLarge> {
    NamedRule::new(EntityTooLarge)
}

impl Effect for EntityTooLarge {
    fn name(&self) -> &'static str {
        "entity_too_large"
    }

    fn on_request(&mut self, request: &RequestFacts) -> Option<RequestVerdict> {
        let status = Status::body_too_large(LIMIT_BYTES);
        request
            .is_write()
            .then(|| RequestVerdict::Answer(Answer::of(&status)))
    }
}
