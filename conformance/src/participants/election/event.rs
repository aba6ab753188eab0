//! Observations of a leader election.

use std::{
    fmt::{self, Display, Formatter},
    sync::Arc,
    time::Duration,
};

use serde_json::Value;

use super::StopKind;
use crate::{
    trace::{Concern, Event, Lane, Objects, answered, asked, observations, or_none},
    tracefile::{EventKind, Role, seconds},
};

/// The number of the first request of candidates in trace files: those of informers have numbers of their own.
const FIRST_REQUEST: usize = 2_000_000;
/// The messages of candidates: a failed attempt, and the end of a leadership.
const WARNINGS: [&str; 4] = [
    "cannot reach for the lease",
    "no longer leading",
    "cannot write the lease candidate",
    "cannot read lease candidates, which take the feature gate CoordinatedLeaderElection",
];

/// A candidate from its start to its stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::exhaustive_structs, reason = "tests write them by hand")]
pub struct Candidacy {
    /// The candidate, by its place in the plan.
    pub candidate: usize,
    /// The number of its earlier candidacies.
    pub number: usize,
}

observations! {
    /// An observation of a leader election.
    #[derive(Clone, Debug, PartialEq, Eq)]
    #[expect(missing_docs, reason = "fields without docs are what their names say")]
    #[expect(clippy::exhaustive_enums, reason = "tests write them by hand")]
    pub enum ElectionEvent with (event, objects) {
        /// The election begins.
        Begins {
            /// The time after which a lease that is not renewed may be taken.
            lease: Duration,
            /// The time for which a leader that cannot renew stays one.
            renew: Duration,
            /// The pause between two attempts.
            retry: Duration,
        } => (
            "election begins: lease {} s, renew deadline {} s, retry period {} s",
            seconds(*lease),
            seconds(*renew),
            seconds(*retry),
        )
            by lane("election");
        /// The server decides who leads.
        IsCoordinated {
            /// The version that each candidate emulates: those with the oldest are the best.
            versions: Vec<u32>,
        } => ("the server elects, candidates emulate {versions:?}");
        /// The best candidate leads, or nothing has failed for as long as it needs to.
        Settled {
            /// The candidates that stand.
            standing: Vec<usize>,
            /// The candidates that lead.
            leading: Vec<usize>,
        } => ("at the end {standing:?} stand, and {leading:?} lead");
        /// A fault of candidates begins.
        FaultBegins {
            /// Its place in the election's plan.
            fault: usize,
            /// The candidate that it hits; `None` for all.
            candidate: Option<usize>,
            /// Its parameters.
            text: String,
        } => ("fault {fault} of candidates begins: {text}")
            by lane("election");
        /// A fault of candidates ends.
        FaultEnds {
            /// Its place in the election's plan.
            fault: usize,
        } => ("fault {fault} of candidates ends")
            by lane("election");
        /// A candidate begins to wait for its leadership.
        Stands { candidacy: Candidacy } => ("{candidacy} stands") by of(*candidacy);
        /// A candidate leads.
        Leads {
            candidacy: Candidacy,
            /// The number of changes of the holder, as the candidate tells it.
            transitions: u32,
        } => ("{candidacy} leads, transitions {transitions}")
            by of(*candidacy) => EventKind::Lead { say: event.to_string() };
        /// A candidate was notified that its leadership is lost.
        Lost { candidacy: Candidacy } => ("{candidacy} has lost") by of(*candidacy) => follow(event);
        /// The token of a leadership has fired that its candidate gives up.
        GaveUp { candidacy: Candidacy } => ("{candidacy} has given up") by of(*candidacy) => follow(event);
        /// The leadership of a candidate, at some moment.
        Status {
            candidacy: Candidacy,
            /// True if it says that it is held.
            is_held: bool,
            /// True if its token has fired.
            is_cancelled: bool,
        } => (
            "leadership of {candidacy} is {}, token {}",
            if *is_held { "held" } else { "not held" },
            if *is_cancelled { "fired" } else { "not fired" },
        );
        /// A candidate ends, and gives its leadership up if it has one.
        Stops { candidacy: Candidacy, kind: StopKind } => ("{candidacy} stops: {kind:?}") by of(*candidacy) => follow(event);
        /// A candidate sent a request.
        Asks {
            candidacy: Candidacy,
            /// The number of the request in the election.
            request: usize,
            /// The method.
            method: String,
        } => ("{candidacy} asks {request}: {method}")
            by of(*candidacy)
            => asked(FIRST_REQUEST + request, &method.to_lowercase(), format!("{method} of the lease"));
        /// The answer of a request arrived as a whole, or there will be none.
        Answered {
            candidacy: Candidacy,
            /// The number of the request in the election.
            request: usize,
            /// The HTTP status; `None` if there was no answer.
            status: Option<u16>,
            /// The lease in the answer.
            lease: Option<LeaseState>,
        } => (
            "answer {request} of {candidacy}: {}{}",
            or_none(status.as_ref()),
            lease.as_ref().map(|lease| format!(" {lease}")).unwrap_or_default(),
        )
            by of(*candidacy) => answered(
                FIRST_REQUEST + request,
                *status,
                lease.as_ref().map(ToString::to_string).unwrap_or_default(),
            );
        /// The lease on the server was changed. It is noticed after each request at the latest.
        LeaseChanged {
            /// The revision of the change.
            revision: u64,
            /// The lease before; `None` if there was none.
            before: Option<LeaseState>,
            /// The lease after; `None` if it was deleted.
            after: Option<LeaseState>,
        } => (
            "lease at {revision}: {}",
            after.as_ref().map_or_else(|| "deleted".to_owned(), ToString::to_string),
        )
            by lane("lease");
        /// Somebody else has written to the lease.
        Meddled {
            /// The kind of write.
            text: String,
            /// The revision of the change; `None` if there was none.
            revision: Option<u64>,
        } => (
            "somebody else writes to the lease: {text} -> {}",
            or_none(revision.as_ref()),
        )
            by lane("lease");
    }
}

/// One state of a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "tests write them by hand")]
pub struct LeaseState {
    /// The version.
    pub revision: u64,
    /// The holder; empty if there is none.
    pub holder: Arc<str>,
    /// The time for which it is held without a renewal.
    pub duration: Duration,
    /// The number of changes of the holder.
    pub transitions: u64,
    /// The time of its acquisition, as text.
    pub acquired: Arc<str>,
    /// The time of its last renewal, as text.
    pub renewed: Arc<str>,
    /// The candidate that is to hold it next; empty if there is none.
    pub preferred: Arc<str>,
}

// === impl Candidacy ===

impl Candidacy {
    /// Returns the name of the candidate, which is that of its client, too.
    pub fn name(self) -> String {
        format!("candidate-{}", self.candidate)
    }
}

impl Display for Candidacy {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.number {
            0 => write!(f, "candidate {}", self.candidate),
            number => write!(f, "candidate {}.{number}", self.candidate),
        }
    }
}

// === impl LeaseState ===

impl LeaseState {
    /// Reads a lease; `None` for another object.
    pub fn of(object: &Value) -> Option<Self> {
        let revision = object["metadata"]["resourceVersion"].as_str()?;
        let spec = object.get("spec")?;
        let text = |field: &str| Arc::from(spec[field].as_str().unwrap_or_default());
        let number = |field: &str| spec[field].as_u64().unwrap_or_default();
        Some(Self {
            revision: revision.parse().ok()?,
            holder: text("holderIdentity"),
            duration: Duration::from_secs(number("leaseDurationSeconds")),
            transitions: number("leaseTransitions"),
            acquired: text("acquireTime"),
            renewed: text("renewTime"),
            preferred: text("preferredHolder"),
        })
    }

    /// Returns true if it says the same as `other`, perhaps at another version.
    pub fn says_the_same(&self, other: &Self) -> bool {
        let printed = |lease: &Self| Self {
            revision: 0,
            ..lease.clone()
        };
        printed(self) == printed(other)
    }
}

impl Display for LeaseState {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "\"{}\"@{} for {} s, transitions {}, acquired {}, renewed {}",
            self.holder,
            self.revision,
            self.duration.as_secs(),
            self.transitions,
            self.acquired,
            self.renewed
        )?;
        if self.preferred.is_empty() {
            return Ok(());
        }
        write!(f, ", for \"{}\"", self.preferred)
    }
}

// === impl ElectionEvent ===

impl Event for ElectionEvent {
    fn in_file(&self, objects: &mut dyn Objects) -> Option<(Option<usize>, EventKind)> {
        self.row_in_file(objects)
    }

    fn warnings(&self) -> &'static [&'static str] {
        &WARNINGS
    }

    fn step(&self) -> Option<(Option<usize>, &'static str)> {
        Some(match self {
            Self::Stands { candidacy } => (Some(candidacy.candidate), "stands"),
            Self::Leads { candidacy, .. } => (Some(candidacy.candidate), "leads"),
            Self::Lost { candidacy } => (Some(candidacy.candidate), "has lost"),
            Self::GaveUp { candidacy } => (Some(candidacy.candidate), "has given up"),
            Self::Stops { candidacy, .. } => (Some(candidacy.candidate), "stops"),
            Self::Answered {
                candidacy, status, ..
            } => (Some(candidacy.candidate), outcome(*status)),
            Self::LeaseChanged { before, after, .. } => {
                (None, change(before.as_ref(), after.as_ref()))
            }
            Self::Meddled { .. } => (None, "written by others"),
            _ => return None,
        })
    }
}

const fn outcome(status: Option<u16>) -> &'static str {
    match status {
        None => "no answer",
        Some(200..400) => "success",
        Some(404) => "no lease",
        Some(409) => "conflict",
        Some(429) => "throttled",
        Some(500..) => "server error",
        Some(_) => "refused",
    }
}

fn change(before: Option<&LeaseState>, after: Option<&LeaseState>) -> &'static str {
    match (before, after) {
        (_, None) => "lease deleted",
        (None, _) => "lease created",
        (Some(before), Some(after)) if before.holder == after.holder => "lease renewed",
        (_, Some(after)) if after.holder.is_empty() => "lease released",
        _ => "lease taken",
    }
}

/// Returns the lane of a candidate.
fn of(candidacy: Candidacy) -> Lane {
    let concern = Concern::One(candidacy.candidate);
    Lane::Of(candidacy.name(), Role::Candidate, Some(concern))
}

/// Returns a lane that concerns all candidates.
fn lane(name: &str) -> Lane {
    Lane::Of(name.to_owned(), Role::Harness, Some(Concern::All))
}

fn follow(event: &ElectionEvent) -> EventKind {
    EventKind::Follow {
        say: event.to_string(),
    }
}
