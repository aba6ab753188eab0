//! The contestants of the scoreboard.

use crate::{
    bugs::Bug,
    participants::subjects::{Extras, OnFailure, SubjectKind},
    sim::Plan,
};

/// A subject in one of its forms: a column of the scoreboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Contestant {
    /// Its name on the command line.
    pub name: &'static str,
    /// The kind of subject.
    pub subject: SubjectKind,
    /// True if it streams its lists.
    pub streams_lists: bool,
    /// True if it has to hold wherever a correct client can.
    pub has_to_hold: bool,
    /// The seeded bug of a negative control, which has to be noticed wherever it can show.
    pub flaw: Option<Flaw>,
}

/// A seeded bug, which makes a contestant a negative control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Flaw {
    /// It ignores deletions in watches; as a controller it does not retry failures.
    Deaf,
    /// It retries without delay.
    Hasty,
}

/// All contestants that run in process, in the order of the columns.
pub const CONTESTANTS: [Contestant; 7] = [
    Contestant {
        name: "informer",
        subject: SubjectKind::Informer,
        streams_lists: true,
        has_to_hold: true,
        flaw: None,
    },
    Contestant {
        name: "informer-paged",
        subject: SubjectKind::Informer,
        streams_lists: false,
        has_to_hold: true,
        flaw: None,
    },
    Contestant {
        name: "kube-runtime",
        subject: SubjectKind::KubeRuntime,
        streams_lists: false,
        has_to_hold: false,
        flaw: None,
    },
    Contestant {
        name: "kube-runtime-streaming",
        subject: SubjectKind::KubeRuntime,
        streams_lists: true,
        has_to_hold: false,
        flaw: None,
    },
    Contestant {
        name: "kube-runtime-shared",
        subject: SubjectKind::KubeRuntimeShared,
        streams_lists: false,
        has_to_hold: false,
        flaw: None,
    },
    Contestant {
        name: "broken-deaf",
        subject: SubjectKind::Informer,
        streams_lists: true,
        has_to_hold: false,
        flaw: Some(Flaw::Deaf),
    },
    Contestant {
        name: "broken-hasty",
        subject: SubjectKind::Informer,
        streams_lists: true,
        has_to_hold: false,
        flaw: Some(Flaw::Hasty),
    },
];

/// A process of its own, which runs over TCP only.
pub const EXTERNAL: Contestant = Contestant {
    name: "external",
    subject: SubjectKind::External,
    streams_lists: true,
    has_to_hold: false,
    flaw: None,
};

/// The promises of every subject. Faults of the server itself do not count against subjects.
const COMMON: &[&str] = &[
    "hot_loops",
    "convergence",
    "told_truth",
    "time_travel",
    "bounded_requests",
    "backoff",
    "retry_after",
    "relists",
    "rewatches",
    "leaks",
];

/// The promises of subjects that notify handlers of every change.
pub(super) const OF_HANDLERS: &[&str] = &[
    "handler_streams",
    "lost_deletes",
    "silent_gaps",
    "cache_first",
];

/// The promises of subjects that have versions, indexes, readers, filters and resyncs, say what they read, what they cannot
/// decode and why they notify, let code wait, have work queues, come from factories, share gates, pause, tell of their state, spread their
/// watches, and log no expected warnings.
const OF_INFORMER: &[&str] = &[
    "contents",
    "causes",
    "undecodable",
    "handler_syncs",
    "waits",
    "filters",
    "herds",
    "gates",
    "pauses",
    "statuses",
    "reconciles",
    "work_queues",
    "queue_stops",
    "factories",
    "snapshots",
    "indexes",
    "readers",
    "freshness",
    "resyncs",
    "liveness",
    "warnings",
];

// === impl Contestant ===

impl Contestant {
    /// Finds a contestant by its name.
    pub fn named(name: &str) -> Option<Self> {
        CONTESTANTS
            .into_iter()
            .chain([EXTERNAL])
            .find(|contestant| contestant.name == name)
    }

    /// Returns `plan` with all its informers in this form.
    pub fn plan(self, plan: &Plan) -> Plan {
        let mut plan = plan.clone();
        for informer in &mut plan.informers {
            informer.streaming_lists = self.streams_lists;
        }
        plan
    }

    /// Adds the bug of this contestant to the options of every subject.
    pub(super) fn extras(self, wanted: Extras) -> Extras {
        match self.flaw {
            None => wanted,
            // A controller that creates deleted objects over and over would run for ever, if slowly.
            Some(flaw) if wanted.is_copying => wanted.with_on_failure(flaw.on_failure()),
            Some(flaw) => wanted.with_bug(Bug::find(flaw.bug())),
        }
    }

    /// Returns the checkers whose invariants it promises.
    pub fn promises(self) -> impl Iterator<Item = &'static str> {
        let handlers = match self.subject {
            SubjectKind::KubeRuntimeShared => &[][..],
            _ => OF_HANDLERS,
        };
        let informer = match self.subject {
            SubjectKind::Informer => OF_INFORMER,
            _ => &[][..],
        };
        COMMON.iter().chain(handlers).chain(informer).copied()
    }
}

// === impl Flaw ===

impl Flaw {
    /// Returns the name of its informers' bug.
    const fn bug(self) -> &'static str {
        match self {
            Self::Deaf => "deleted-ignored",
            Self::Hasty => "no-backoff",
        }
    }

    const fn on_failure(self) -> OnFailure {
        match self {
            Self::Deaf => OnFailure::Forget,
            Self::Hasty => OnFailure::RetryAtOnce,
        }
    }
}
