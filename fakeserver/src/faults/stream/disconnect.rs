//! All streams end at once, as they do when a server restarts.

use crate::faults::{Action, Effect, NamedRule, RequestFacts, RequestVerdict};

/// See [`disconnect`].
#[derive(Debug, Clone, Copy)]
pub struct Disconnect;

/// Every open watch of the server ends cleanly, whoever's it is, before a request is served.
pub fn disconnect() -> NamedRule<Disconnect> {
    NamedRule::new(Disconnect)
}

impl Effect for Disconnect {
    fn name(&self) -> &'static str {
        "disconnect"
    }

    fn on_request(&mut self, _: &RequestFacts) -> Option<RequestVerdict> {
        Some(RequestVerdict::Perform(Action::Disconnect))
    }
}
