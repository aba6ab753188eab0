//! Who is on the scoreboard.

use crate::{
    bugs::Bug,
    plan::Plan,
    subjects::{Extras, OnFailure, SubjectKind},
};

/// A subject in one of its forms: a column of the scoreboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Contestant {
    /// Its name on the command line.
    pub name: &'static str,
    /// What is under test.
    pub subject: SubjectKind,
    /// Whether it streams its lists.
    pub streams_lists: bool,
    /// Whether it has to hold wherever a correct client can.
    pub has_to_hold: bool,
    /// What it does wrong on purpose: it has to be found out wherever that can show.
    pub flaw: Option<Flaw>,
}

/// A mistake on purpose, which makes a contestant a negative control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Flaw {
    /// It overlooks deletions that a watch brings; as a controller it takes what failed for done.
    Deaf,
    /// It never waits before it tries again.
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

/// A process of its own, which only runs over TCP.
pub const EXTERNAL: Contestant = Contestant {
    name: "external",
    subject: SubjectKind::External,
    streams_lists: true,
    has_to_hold: false,
    flaw: None,
};

/// What every subject has to keep. The faults of the server itself are not counted against anybody.
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

/// What a subject promises whose handlers hear of everything.
const OF_HANDLERS: &[&str] = &[
    "handler_streams",
    "lost_deletes",
    "silent_gaps",
    "cache_first",
];

/// What a subject promises that knows its version, has indexes, tells everything again, and whose warnings are news.
const OF_INFORMER: &[&str] = &[
    "snapshots",
    "indexes",
    "freshness",
    "resyncs",
    "liveness",
    "warnings",
];

// === impl Contestant ===

impl Contestant {
    /// The contestant of this name.
    pub fn named(name: &str) -> Option<Self> {
        CONTESTANTS
            .into_iter()
            .chain([EXTERNAL])
            .find(|contestant| contestant.name == name)
    }

    /// `plan` with all of its informers in this form.
    pub fn plan(self, plan: &Plan) -> Plan {
        let mut plan = plan.clone();
        for informer in &mut plan.informers {
            informer.streaming_lists = self.streams_lists;
        }
        plan
    }

    /// `asked` of every subject, with what this one does wrong.
    pub(super) fn extras(self, asked: Extras) -> Extras {
        match self.flaw {
            None => asked,
            // As a controller that makes what is deleted again and again it would go on for ever, if slowly.
            Some(flaw) if asked.is_copying => asked.with_on_failure(flaw.on_failure()),
            Some(flaw) => asked.with_bug(Bug::find(flaw.bug())),
        }
    }

    /// The checkers whose promise it gives.
    pub fn promises(self) -> impl Iterator<Item = &'static str> {
        let handlers = match self.subject {
            SubjectKind::KubeRuntimeShared => &[][..],
            _ => OF_HANDLERS,
        };
        let informer = match self.subject {
            SubjectKind::Informer | SubjectKind::InformerCompact => OF_INFORMER,
            _ => &[][..],
        };
        COMMON.iter().chain(handlers).chain(informer).copied()
    }
}

// === impl Flaw ===

impl Flaw {
    /// The name of the mistake that its informers make.
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
