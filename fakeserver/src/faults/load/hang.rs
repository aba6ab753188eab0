//! A server that accepts a request and then says nothing, not even headers.

use crate::faults::{Effect, NamedRule, RequestFacts, RequestVerdict};

/// See [`hang`].
#[derive(Debug, Clone, Copy)]
pub struct Hang;

/// A request is never answered. It goes away with its client.
pub fn hang() -> NamedRule<Hang> {
    NamedRule::new(Hang)
}

impl Effect for Hang {
    fn name(&self) -> &'static str {
        "hang"
    }

    fn on_request(&mut self, _: &RequestFacts) -> Option<RequestVerdict> {
        Some(RequestVerdict::Hang)
    }
}
