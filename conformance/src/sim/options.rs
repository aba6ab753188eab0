//! Options of a run.

use std::{
    num::{NonZeroU32, NonZeroUsize},
    time::Duration,
};

use fakeserver::{
    FakeServer,
    faults::{Faults, ListenGate, RuleGuard},
};

use tokio::runtime::{self, Runtime};

use crate::{
    bugs::Bug,
    subjects::{self, Subject, SubjectParts},
    trace::SharedSink,
    transport::{Tap, Transport},
};

/// The time for caches to become equal to the server after the end of all faults.
///
/// The longest path leads through a silent stream: 3 min until the informer notices, 2 min for a list that a fault had
/// caught, and a minute of backoff with its jitter.
pub const CONVERGENCE_LIMIT: Duration = Duration::from_mins(8);

/// The way of subjects to the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Against {
    /// In process, on a paused clock.
    #[default]
    InProcess,
    /// Over TCP on this machine, in real time.
    Tcp,
    /// In process, in real time, on so many threads. Subjects use short time limits, and runs are not repeatable.
    InThreads(NonZeroUsize),
}

/// Makes the subject of an informer of the plan.
pub type MakeSubject<'a> = dyn Fn(SubjectParts<'_>) -> Box<dyn Subject> + 'a;

/// Options of a run besides its plan. By default `informer` is the subject, and it reaches a correct server in process.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct RunOptions<'a> {
    /// Makes the subjects.
    pub subject: &'a MakeSubject<'a>,
    /// The seeded bug of participants beside the subjects, if there is one.
    pub bug: Option<Bug>,
    /// Installs rules for the whole run, recovery included: a server that differs in this all the time.
    pub server_variant: fn(&Faults) -> Vec<RuleGuard>,
    /// The way of subjects to the server.
    pub against: Against,
    /// Describes what subjects still have to bring about on the server, if anything.
    pub goal: fn(&FakeServer) -> Option<String>,
    /// The time for caches to become equal to the server after the end of all faults; 8 minutes by default.
    pub convergence_limit: Duration,
    /// The divisor of the timeouts of watches on their way to the server.
    pub watch_speed: NonZeroU32,
    /// Takes the observations while the run goes on.
    pub sink: Option<&'a SharedSink>,
}

// === impl Against ===

impl Against {
    /// Builds the runtime of a run on the calling thread.
    pub(crate) fn runtime(self) -> Runtime {
        let mut builder = runtime::Builder::new_current_thread();
        match self {
            Self::InProcess => builder.enable_time().start_paused(true),
            // Sockets and a paused clock do not go together: it would leap while bytes are in flight.
            Self::Tcp | Self::InThreads(_) => builder.enable_all(),
        };
        let runtime = builder.build();
        runtime.expect("the system gives what a runtime needs")
    }

    /// Makes a client of `transport`, and the listener that it reaches it by, if that is over TCP.
    pub(super) fn client(
        self,
        transport: Transport,
        gate: ListenGate,
    ) -> (kube::Client, Option<Tap>) {
        match self {
            Self::InProcess | Self::InThreads(_) => (transport.into_client(), None),
            Self::Tcp => {
                let tap = Tap::open(transport, gate);
                let tap = tap.expect("the system has a free port on this machine");
                (tap.client(), Some(tap))
            }
        }
    }
}

// === impl RunOptions ===

impl Default for RunOptions<'_> {
    fn default() -> Self {
        Self {
            subject: &subjects::informer,
            bug: None,
            server_variant: |_| Vec::new(),
            against: Against::InProcess,
            goal: |_| None,
            convergence_limit: CONVERGENCE_LIMIT,
            watch_speed: NonZeroU32::MIN,
            sink: None,
        }
    }
}

impl<'a> RunOptions<'a> {
    /// Replaces the subjects.
    #[must_use]
    pub fn with_subject(mut self, subject: &'a MakeSubject<'a>) -> Self {
        self.subject = subject;
        self
    }

    /// Seeds a bug in participants beside the subjects.
    #[must_use]
    pub fn with_bug(mut self, bug: Bug) -> Self {
        self.bug = Some(bug);
        self
    }

    /// Installs rules for the whole run.
    #[must_use]
    pub fn with_server_variant(mut self, install: fn(&Faults) -> Vec<RuleGuard>) -> Self {
        self.server_variant = install;
        self
    }

    /// Sets the way of subjects to the server.
    #[must_use]
    pub fn with_against(mut self, against: Against) -> Self {
        self.against = against;
        self
    }

    /// Sets what subjects have to bring about on the server.
    #[must_use]
    pub fn with_goal(mut self, goal: fn(&FakeServer) -> Option<String>) -> Self {
        self.goal = goal;
        self
    }

    /// Lets the server end watches so many times sooner than clients ask for.
    #[must_use]
    pub fn with_watch_speed(mut self, factor: NonZeroU32) -> Self {
        self.watch_speed = factor;
        self
    }

    /// Gives the observations to a sink while the run goes on.
    #[must_use]
    pub fn with_sink(mut self, sink: Option<&'a SharedSink>) -> Self {
        self.sink = sink;
        self
    }

    /// Limits the time for caches to become equal to the server.
    #[must_use]
    pub fn with_convergence_limit(mut self, limit: Duration) -> Self {
        self.convergence_limit = limit;
        self
    }
}
