//! A cluster that was restored from a backup.

use crate::faults::{Action, Effect, NamedRule, RequestFacts, RequestVerdict};

/// See [`rollback`].
#[derive(Debug, Clone, Copy)]
pub struct Rollback {
    revisions: u64,
}

/// Before a request is served, the store goes back by so many revisions, at most to where its history begins: what was
/// written since is lost, watches end, and the lost revisions are taken anew by other writes. An object that is made again
/// under its name has another uid.
///
/// A watch from a lost revision brings nothing until the store has come by it.
pub fn rollback(revisions: u64) -> NamedRule<Rollback> {
    NamedRule::new(Rollback { revisions })
}

impl Effect for Rollback {
    fn name(&self) -> &'static str {
        "rollback"
    }

    fn on_request(&mut self, _: &RequestFacts) -> Option<RequestVerdict> {
        let revisions = self.revisions;
        Some(RequestVerdict::Perform(Action::RollBack { revisions }))
    }
}
