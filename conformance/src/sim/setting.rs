//! What a run has besides its plan.

use std::time::Duration;

use fakeserver::{
    FakeServer,
    faults::{Faults, RuleGuard},
};

use super::MakeSubject;
use crate::transport::{Tap, Transport};

/// How long caches may take to become equal to the server once faults have ended.
///
/// The longest way is through a stream that fell silent: 3 min until that is noticed, a request that was caught by a fault
/// before it ended (2 min for a list), and the longest wait of the backoff with its jitter, a minute.
const CONVERGENCE_LIMIT: Duration = Duration::from_mins(8);

/// How subjects reach the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Against {
    /// In process, on a paused clock.
    #[default]
    InProcess,
    /// Over TCP on this machine, in the time that it takes.
    Tcp,
}

/// What a run has besides its plan: who is under test, and what kind of server he meets.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Setting<'a> {
    /// Makes what is under test.
    pub make: &'a MakeSubject<'a>,
    /// Rules that are in force for the whole run, recovery included: a server that has always been like this.
    pub quirks: fn(&Faults) -> Vec<RuleGuard>,
    /// How subjects reach the server.
    pub against: Against,
    /// What subjects are to bring about on the server: gives what is lacking, if anything is.
    pub goal: fn(&FakeServer) -> Option<String>,
    /// How long caches may take to become equal to the server once faults have ended.
    pub convergence_limit: Duration,
}

// === impl Against ===

impl Against {
    /// A client that goes the way of `transport`, and the listener that it goes by, if it does.
    pub(super) fn client(
        self,
        transport: Transport,
        server: &FakeServer,
    ) -> (kube::Client, Option<Tap>) {
        match self {
            Self::InProcess => (transport.into_client(), None),
            Self::Tcp => {
                let tap = Tap::open(transport, server.faults().door());
                let tap = tap.expect("the system has a free port on this machine");
                (tap.client(), Some(tap))
            }
        }
    }

    /// How long handlers have to hear of what their cache knows.
    pub(super) fn settling(self) -> Duration {
        match self {
            Self::InProcess => Duration::from_millis(20),
            Self::Tcp => Duration::from_millis(300),
        }
    }

    /// How long subjects have to say what they hold, if they need time for it.
    pub(super) fn answering(self) -> Option<Duration> {
        (self == Self::Tcp).then_some(Duration::from_millis(300))
    }
}

// === impl Setting ===

impl<'a> Setting<'a> {
    /// A run of what `make` makes, against a server that is as it should be.
    pub fn new(make: &'a MakeSubject<'a>) -> Self {
        Self {
            make,
            quirks: |_| Vec::new(),
            against: Against::InProcess,
            goal: |_| None,
            convergence_limit: CONVERGENCE_LIMIT,
        }
    }

    /// Against a server with these rules, whose guards it gives.
    #[must_use]
    pub fn with_quirks(mut self, quirks: fn(&Faults) -> Vec<RuleGuard>) -> Self {
        self.quirks = quirks;
        self
    }

    /// Subjects reach the server so.
    #[must_use]
    pub fn with_against(mut self, against: Against) -> Self {
        self.against = against;
        self
    }

    /// With something that subjects are to bring about on the server: `goal` gives what is lacking, if anything is.
    #[must_use]
    pub fn with_goal(mut self, goal: fn(&FakeServer) -> Option<String>) -> Self {
        self.goal = goal;
        self
    }

    /// Gives up caches that have not become equal to the server so long after faults have ended.
    #[must_use]
    pub fn with_convergence_limit(mut self, limit: Duration) -> Self {
        self.convergence_limit = limit;
        self
    }
}
