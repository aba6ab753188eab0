//! The past is forgotten for lists and watches.

use crate::faults::{Action, Effect, NamedRule, RequestFacts, RequestVerdict};

/// See [`expire`].
#[derive(Debug, Clone, Copy)]
pub struct Expire;

/// Before a request is served, the history is forgotten, for watches too: one that is to begin at an older version is told
/// 410 by an ERROR event. Watches that are open go on.
pub fn expire() -> NamedRule<Expire> {
    NamedRule::new(Expire)
}

impl Effect for Expire {
    fn name(&self) -> &'static str {
        "expire"
    }

    fn on_request(&mut self, _: &RequestFacts) -> Option<RequestVerdict> {
        Some(RequestVerdict::Perform(Action::Expire))
    }
}
