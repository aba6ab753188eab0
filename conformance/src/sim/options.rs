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
    participants::subjects::{self, Subject, SubjectParts},
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
    /// In process, in real time, on this number of threads. Subjects use short time limits, and runs are not repeatable.
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
    /// Takes the observations during the run.
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
    setters! {
        /// Replaces the subjects.
        with_subject(subject: &'a MakeSubject<'a>) |this| this.subject = subject;
        /// Seeds a bug in participants beside the subjects.
        with_bug(bug: Bug) |this| this.bug = Some(bug);
        /// Installs rules for the whole run.
        with_server_variant(install: fn(&Faults) -> Vec<RuleGuard>) |this| this.server_variant = install;
        /// Sets the way of subjects to the server.
        with_against(against: Against) |this| this.against = against;
        /// Sets what subjects have to bring about on the server.
        with_goal(goal: fn(&FakeServer) -> Option<String>) |this| this.goal = goal;
        /// Divides the timeouts that clients request for watches by this number.
        with_watch_speed(factor: NonZeroU32) |this| this.watch_speed = factor;
        /// Passes the observations to a sink during the run.
        with_sink(sink: Option<&'a SharedSink>) |this| this.sink = sink;
        /// Limits the time for caches to become equal to the server.
        with_convergence_limit(limit: Duration) |this| this.convergence_limit = limit;
    }
}
