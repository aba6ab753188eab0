//! The past is forgotten for lists.

use crate::faults::{Action, Effect, NamedRule, RequestFacts, RequestVerdict};

/// See [`compact`].
#[derive(Debug, Clone, Copy)]
pub struct Compact;

/// Before a request is served, the history is forgotten: lists of older versions, and the continuation of older lists, are
/// answered with 410 from then on. Watches go on.
pub fn compact() -> NamedRule<Compact> {
    NamedRule::new(Compact)
}

impl Effect for Compact {
    fn name(&self) -> &'static str {
        "compact"
    }

    fn on_request(&mut self, _: &RequestFacts) -> Option<RequestVerdict> {
        Some(RequestVerdict::Perform(Action::Compact))
    }
}
