//! The record of a run: what the subject wrote, what it had read before, and what else happened.

use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize};

/// The identity of a write, which is the same in every run of a workload.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct WriteKey {
    /// `create`, `update`, `patch`, `delete` or `deletecollection`.
    pub verb: String,
    /// The plural name of the resource, with its group.
    pub resource: String,
    /// `status` and the like.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subresource: Option<String>,
    /// Empty for an object without a namespace.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// The name; of one that the server completes, the beginning and `*`.
    pub name: String,
}

/// One write among those of its key.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct WritePoint {
    /// The identity.
    #[serde(flatten)]
    pub key: WriteKey,
    /// Its number among those of this key, from 1.
    pub occurrence: usize,
}

/// The state of an object that a replica had read when it wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObservedVersion {
    /// The uid.
    pub uid: String,
    /// The version.
    pub revision: u64,
    /// The generation; 0 if it has none.
    pub generation: u64,
}

/// The effect of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It changed the cluster.
    Changed,
    /// It was accepted, and changed nothing.
    Nothing,
    /// The server refused it.
    Refused,
    /// It was not answered, as the plan wanted.
    Unanswered,
}

/// The outcome of a write.
#[derive(Debug)]
pub(super) struct WriteOutcome {
    pub(super) code: Option<u16>,
    pub(super) message: String,
    pub(super) effect: Effect,
    pub(super) revision: Option<u64>,
}

/// A write of the subject.
#[derive(Clone, Debug)]
pub struct Write {
    /// The time at which it came.
    pub at: Duration,
    /// The replica that wrote.
    pub replica: usize,
    /// The number of the replica's process, from 0.
    pub incarnation: usize,
    /// Its identity.
    pub point: WritePoint,
    /// The status code of the answer, if there was one.
    pub code: Option<u16>,
    /// The reason, if it was refused.
    pub message: String,
    /// The effect.
    pub effect: Effect,
    /// The version of the object after it.
    pub revision: Option<u64>,
    /// The state of the object that the replica had read.
    pub seen: Option<ObservedVersion>,
    /// The uid of the object at the server when the write came.
    pub target_uid: Option<String>,
    /// The identity that held each lease when the write came, among those that this subject writes.
    pub lease_holders: Vec<String>,
    /// The revision of the server when the write came.
    pub server_revision: u64,
    /// True for a write that is about no state: an event, a lease, a review.
    pub is_background: bool,
    /// True if the plan did something about it.
    pub is_perturbed: bool,
}

/// An event of a run.
#[derive(Clone, Debug)]
pub enum Event {
    /// A step began.
    Step {
        /// Its place, from 0.
        place: usize,
        /// Its words.
        text: String,
    },
    /// A step did not succeed.
    StepFailed {
        /// Its place, from 0.
        place: usize,
        /// The reason.
        reason: String,
        /// True if the server refused what the user asked for, and the subject is not to blame by itself.
        is_refused: bool,
    },
    /// A process was started.
    Started {
        /// The replica.
        replica: usize,
        /// The number of its process, from 0.
        incarnation: usize,
    },
    /// A process ended.
    Ended {
        /// The replica.
        replica: usize,
        /// The number of its process, from 0.
        incarnation: usize,
        /// The way in which it ended.
        how: String,
        /// True if the plan ended it.
        is_planned: bool,
    },
    /// A replica was stopped.
    Stopped {
        /// The replica.
        replica: usize,
        /// For how long.
        time: Duration,
    },
    /// A stopped replica was woken.
    Woken {
        /// The replica.
        replica: usize,
    },
    /// A resource stands still for the subject.
    Frozen {
        /// The resource.
        resource: String,
    },
    /// All frozen resources and stopped replicas resume.
    Thawed,
    /// The plan did something else.
    Perturbed(String),
    /// A write came; the number is its place among the writes.
    Wrote(usize),
}

/// The record of a run.
#[derive(Clone, Debug, Default)]
pub struct RunTrace {
    /// The events in order, with their times.
    pub events: Vec<(Duration, Event)>,
    /// The writes of the subject, in the order in which they came.
    pub writes: Vec<Write>,
    /// The resources that the subject watched.
    pub watched: Vec<String>,
    /// The resources that the subject listed from the server's cache (`resourceVersion=0`).
    pub listed_from_cache: Vec<String>,
    /// The resources that it asked for and that the server does not have.
    pub unserved: Vec<String>,
    /// The time of the restart at the end: after it, nothing should be written.
    pub restarted_at: Option<Duration>,
}

// === impl WriteKey ===

impl fmt::Display for WriteKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.verb, self.resource)?;
        if let Some(subresource) = &self.subresource {
            write!(f, "/{subresource}")?;
        }
        f.write_str(" ")?;
        if !self.namespace.is_empty() {
            write!(f, "{}/", self.namespace)?;
        }
        f.write_str(&self.name)
    }
}

impl fmt::Display for WritePoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.key)?;
        if self.occurrence > 1 {
            write!(f, " (time {})", self.occurrence)?;
        }
        Ok(())
    }
}

// === impl Write ===

impl Write {
    /// Returns whether it is one of those that plans are made of: it changed the cluster's state.
    pub fn is_point(&self) -> bool {
        !self.is_background && self.effect == Effect::Changed
    }
}
