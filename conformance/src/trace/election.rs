//! Observations of a leader election.

use std::{
    fmt::{self, Display, Formatter},
    sync::Arc,
    time::Duration,
};

use serde_json::Value;

use super::observation::seconds;
use crate::plan::StopKind;

/// A candidate from its start to its stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::exhaustive_structs, reason = "tests write them by hand")]
pub struct Candidacy {
    /// The candidate, by its place in the plan.
    pub candidate: usize,
    /// The number of its earlier candidacies.
    pub number: usize,
}

/// An observation of a leader election.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "tests write them by hand")]
pub enum ElectionEvent {
    /// The election begins.
    Begins {
        /// The time after which a lease that is not renewed may be taken.
        lease: Duration,
        /// The time for which a leader that cannot renew stays one.
        renew: Duration,
        /// The pause between two attempts.
        retry: Duration,
    },
    /// The server decides who leads.
    IsCoordinated {
        /// The version that each candidate emulates: those with the oldest are the best.
        versions: Vec<u32>,
    },
    /// The best candidate leads, or nothing has failed for as long as it needs to.
    Settled {
        /// The candidates that stand.
        standing: Vec<usize>,
        /// The candidates that lead.
        leading: Vec<usize>,
    },
    /// A fault of candidates begins.
    FaultBegins {
        /// Its place in the election's plan.
        fault: usize,
        /// The candidate that it hits; `None` for all.
        candidate: Option<usize>,
        /// Its parameters.
        text: String,
    },
    /// A fault of candidates ends.
    FaultEnds {
        /// Its place in the election's plan.
        fault: usize,
    },
    /// A candidate begins to wait for its leadership.
    Stands {
        /// The candidacy.
        candidacy: Candidacy,
    },
    /// A candidate leads.
    Leads {
        /// The candidacy.
        candidacy: Candidacy,
        /// The number of changes of the holder, as the candidate tells it.
        transitions: u32,
    },
    /// A candidate was told that its leadership is lost.
    Lost {
        /// The candidacy.
        candidacy: Candidacy,
    },
    /// The token of a leadership has fired that its candidate gives up.
    GaveUp {
        /// The candidacy.
        candidacy: Candidacy,
    },
    /// The leadership of a candidate, at some moment.
    Status {
        /// The candidacy.
        candidacy: Candidacy,
        /// True if it says that it is held.
        is_held: bool,
        /// True if its token has fired.
        is_cancelled: bool,
    },
    /// A candidate ends, and gives its leadership up if it has one.
    Stops {
        /// The candidacy.
        candidacy: Candidacy,
        /// The kind of end.
        kind: StopKind,
    },
    /// A candidate sent a request.
    Asks {
        /// The candidacy.
        candidacy: Candidacy,
        /// The number of the request in the election.
        request: usize,
        /// The method.
        method: String,
    },
    /// The answer of a request arrived as a whole, or there will be none.
    Answered {
        /// The candidacy.
        candidacy: Candidacy,
        /// The number of the request in the election.
        request: usize,
        /// The HTTP status; `None` if there was no answer.
        status: Option<u16>,
        /// The lease in the answer.
        lease: Option<LeaseState>,
    },
    /// The lease on the server was changed. It is noticed after each request at the latest.
    LeaseChanged {
        /// The revision of the change.
        revision: u64,
        /// The lease before; `None` if there was none.
        before: Option<LeaseState>,
        /// The lease after; `None` if it was deleted.
        after: Option<LeaseState>,
    },
    /// Somebody else has written to the lease.
    Meddled {
        /// The kind of write.
        text: String,
        /// The revision of the change; `None` if there was none.
        revision: Option<u64>,
    },
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
        let said = |lease: &Self| Self {
            revision: 0,
            ..lease.clone()
        };
        said(self) == said(other)
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

impl Display for ElectionEvent {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Begins {
                lease,
                renew,
                retry,
            } => write!(
                f,
                "election begins: lease {} s, renew deadline {} s, retry period {} s",
                seconds(*lease),
                seconds(*renew),
                seconds(*retry)
            ),
            Self::IsCoordinated { versions } => {
                write!(f, "the server elects, candidates emulate {versions:?}")
            }
            Self::Settled { standing, leading } => {
                write!(f, "at the end {standing:?} stand, and {leading:?} lead")
            }
            Self::FaultBegins { fault, text, .. } => {
                write!(f, "fault {fault} of candidates begins: {text}")
            }
            Self::FaultEnds { fault } => write!(f, "fault {fault} of candidates ends"),
            Self::Stands { candidacy } => write!(f, "{candidacy} stands"),
            Self::Leads {
                candidacy,
                transitions,
            } => write!(f, "{candidacy} leads, transitions {transitions}"),
            Self::Lost { candidacy } => write!(f, "{candidacy} has lost"),
            Self::GaveUp { candidacy } => write!(f, "{candidacy} has given up"),
            Self::Status {
                candidacy,
                is_held,
                is_cancelled,
            } => {
                let held = if *is_held { "held" } else { "not held" };
                let fired = if *is_cancelled { "fired" } else { "not fired" };
                write!(f, "leadership of {candidacy} is {held}, token {fired}")
            }
            Self::Stops { candidacy, kind } => write!(f, "{candidacy} stops: {kind:?}"),
            request => fmt_request(request, f),
        }
    }
}

/// Formats observations of requests and of the lease.
fn fmt_request(event: &ElectionEvent, f: &mut Formatter<'_>) -> fmt::Result {
    match event {
        ElectionEvent::Asks {
            candidacy,
            request,
            method,
        } => write!(f, "{candidacy} asks {request}: {method}"),
        ElectionEvent::Answered {
            candidacy,
            request,
            status,
            lease,
        } => {
            let status = status.map_or_else(|| "none".to_owned(), |status| status.to_string());
            write!(f, "answer {request} of {candidacy}: {status}")?;
            lease.as_ref().map_or(Ok(()), |lease| write!(f, " {lease}"))
        }
        ElectionEvent::LeaseChanged {
            revision, after, ..
        } => match after {
            Some(lease) => write!(f, "lease at {revision}: {lease}"),
            None => write!(f, "lease at {revision}: deleted"),
        },
        ElectionEvent::Meddled { text, revision } => {
            let revision = revision.map_or_else(|| "none".to_owned(), |at| at.to_string());
            write!(f, "somebody else writes to the lease: {text} -> {revision}")
        }
        other => write!(f, "{other:?}"),
    }
}
