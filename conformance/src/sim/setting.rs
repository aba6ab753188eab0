//! What a run has besides its plan.

use std::time::Duration;

use fakeserver::{FakeServer, faults::RuleGuard};

use super::MakeSubject;

/// How long caches may take to become equal to the server once faults have ended.
///
/// The longest way is through a stream that fell silent: 3 min until that is noticed, a request that was caught by a fault
/// before it ended (2 min for a list), and the longest wait of the backoff with its jitter, a minute.
const CONVERGENCE_LIMIT: Duration = Duration::from_mins(8);

/// What a run has besides its plan: who is under test, and what kind of server he meets.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Setting<'a> {
    /// Makes what is under test.
    pub make: &'a MakeSubject<'a>,
    /// Rules that are in force for the whole run, recovery included: a server that has always been like this.
    pub quirks: fn(&FakeServer) -> Vec<RuleGuard>,
    /// How long caches may take to become equal to the server once faults have ended.
    pub convergence_limit: Duration,
}

// === impl Setting ===

impl<'a> Setting<'a> {
    /// A run of what `make` makes, against a server that is as it should be.
    pub fn new(make: &'a MakeSubject<'a>) -> Self {
        Self {
            make,
            quirks: |_| Vec::new(),
            convergence_limit: CONVERGENCE_LIMIT,
        }
    }

    /// Against a server with these rules, whose guards it gives.
    #[must_use]
    pub fn with_quirks(mut self, quirks: fn(&FakeServer) -> Vec<RuleGuard>) -> Self {
        self.quirks = quirks;
        self
    }

    /// Gives up caches that have not become equal to the server so long after faults have ended.
    #[must_use]
    pub fn with_convergence_limit(mut self, limit: Duration) -> Self {
        self.convergence_limit = limit;
        self
    }
}
