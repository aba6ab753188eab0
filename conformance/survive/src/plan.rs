//! Plans: perturbations of a run, each at a write of the reference or at a step.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{generate::Change, kinds::ObjectRef, trace::WritePoint};

/// The perturbations of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The family that it belongs to in reports.
    pub family: Family,
    /// The perturbations.
    pub perturbations: Vec<Perturbation>,
}

/// A group of plans, which is a line of the report.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    clap::ValueEnum,
)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    /// No perturbation: the reference.
    #[default]
    #[value(skip)]
    Reference,
    /// The process is killed before or after a write.
    Crash,
    /// The answer to a write is lost.
    LostAnswer,
    /// A write is refused for a while.
    Refusal,
    /// One resource stands still for the subject.
    Stale,
    /// States come and go without being seen.
    Unobserved,
    /// Another client deletes an object, and creates an owner again.
    Deleted,
    /// Somebody else writes to an object.
    Foreign,
    /// A second replica takes over while the first one is stopped, which then wakes.
    Leader,
    /// Faults of the catalogue on lists and watches.
    Catalogue,
    /// The server becomes another version of Kubernetes, or is two servers of two versions.
    Upgrades,
    /// Several at once, drawn from a seed.
    Pairs,
    /// A field of the user's object is changed, and changed back.
    #[value(skip)]
    Generated,
}

/// The side of a write at which a crash is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// The write never reaches the server.
    Before,
    /// The server has done it.
    After,
}

/// The answer to a refused write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Refusal {
    /// 409 `Conflict`.
    Conflict,
    /// 429 with `Retry-After`.
    Throttled,
    /// 500 `InternalError`.
    Internal,
    /// 504 `Timeout`.
    Timeout,
    /// 400, in the words of a webhook that denies it.
    Denied,
}

/// One thing that is done to a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub enum Perturbation {
    /// Kills the process at a write, and starts it again; `twice` kills it again at its next write.
    Crash {
        /// The write.
        at: WritePoint,
        /// Before or after it.
        side: Side,
        /// True to kill the next process, too.
        #[serde(default)]
        twice: bool,
    },
    /// Breaks the connection instead of an answer.
    LoseAnswer {
        /// The write.
        at: WritePoint,
        /// True if the server has done it.
        applied: bool,
    },
    /// Refuses a write, and the next ones of its key.
    Refuse {
        /// The write.
        at: WritePoint,
        /// The answer.
        with: Refusal,
        /// The number of them.
        times: usize,
    },
    /// From a write on, shows the subject nothing new of a resource, until it is quiet; `restart` kills it after the write, so
    /// that it begins with the older state.
    Freeze {
        /// The write.
        at: WritePoint,
        /// The resource, with its group.
        resource: String,
        /// True to kill the process after the write.
        #[serde(default)]
        restart: bool,
    },
    /// Merges changes of an object that follow each other within seconds, on watches of a resource.
    Merge {
        /// The resource, with its group.
        resource: String,
    },
    /// Cuts the subject off a resource while two changes of the user follow each other, so that it lists the second one only.
    Skip {
        /// The place of the first change among the steps, from 0.
        step: usize,
        /// The resource, with its group.
        resource: String,
    },
    /// Deletes an object just before a write is done, and creates it again if it is the user's.
    Delete {
        /// The write.
        at: WritePoint,
        /// The object.
        object: ObjectRef,
        /// True to create it again, with another uid.
        anew: bool,
    },
    /// Annotates an object just before a write to it is done.
    Touch {
        /// The write.
        at: WritePoint,
        /// The object.
        object: ObjectRef,
    },
    /// Stops the replica that writes, after a write, for longer than its lease, and wakes it.
    Stop {
        /// The write.
        at: WritePoint,
    },
    /// Ends all watches just before a write is done, and serves another version of Kubernetes from then on.
    Upgrade {
        /// The write.
        at: WritePoint,
        /// The version, such as `1.35`.
        version: String,
    },
    /// Installs a fault of the fake server for the length of the run.
    Fault {
        /// The fault, in the form of the catalogue.
        fault: Value,
    },
    /// Changes a field of an object of the user, and changes it back: the workload is another one then.
    Change {
        /// The object.
        object: ObjectRef,
        /// The change.
        change: Change,
    },
}

// === impl Family ===

impl Family {
    /// Returns the families that are run unless others are chosen.
    pub const ALL: [Self; 10] = [
        Self::Crash,
        Self::LostAnswer,
        Self::Refusal,
        Self::Stale,
        Self::Unobserved,
        Self::Deleted,
        Self::Foreign,
        Self::Leader,
        Self::Catalogue,
        Self::Upgrades,
    ];
}

// === impl Plan ===

impl Plan {
    /// Returns its family, and those of its perturbations.
    pub(super) fn families(&self) -> impl Iterator<Item = Family> {
        let parts = self.perturbations.iter().map(Perturbation::family);
        [self.family].into_iter().chain(parts)
    }
}

// === impl Perturbation ===

impl Perturbation {
    /// Returns the family of plans that it makes alone.
    pub fn family(&self) -> Family {
        match self {
            Self::Crash { .. } => Family::Crash,
            Self::LoseAnswer { .. } => Family::LostAnswer,
            Self::Refuse { .. } => Family::Refusal,
            Self::Freeze { .. } => Family::Stale,
            Self::Merge { .. } | Self::Skip { .. } => Family::Unobserved,
            Self::Delete { .. } => Family::Deleted,
            Self::Touch { .. } => Family::Foreign,
            Self::Stop { .. } => Family::Leader,
            Self::Upgrade { .. } => Family::Upgrades,
            Self::Fault { .. } => Family::Catalogue,
            Self::Change { .. } => Family::Generated,
        }
    }

    /// Returns the write at which it is done, if it is done at one.
    pub fn point(&self) -> Option<&WritePoint> {
        match self {
            Self::Crash { at, .. }
            | Self::LoseAnswer { at, .. }
            | Self::Refuse { at, .. }
            | Self::Freeze { at, .. }
            | Self::Delete { at, .. }
            | Self::Touch { at, .. }
            | Self::Upgrade { at, .. }
            | Self::Stop { at } => Some(at),
            Self::Merge { .. } | Self::Skip { .. } | Self::Fault { .. } | Self::Change { .. } => {
                None
            }
        }
    }
}

impl fmt::Display for Family {
    /// Writes the name that options and reports have for it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Reference => "reference",
            Self::Crash => "crash",
            Self::LostAnswer => "lost-answer",
            Self::Refusal => "refusal",
            Self::Stale => "stale",
            Self::Unobserved => "unobserved",
            Self::Deleted => "deleted",
            Self::Foreign => "foreign",
            Self::Leader => "leader",
            Self::Catalogue => "catalogue",
            Self::Upgrades => "upgrades",
            Self::Pairs => "pairs",
            Self::Generated => "generated",
        })
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Conflict => "409",
            Self::Throttled => "429",
            Self::Internal => "500",
            Self::Timeout => "504",
            Self::Denied => "a webhook's denial",
        })
    }
}

impl fmt::Display for Perturbation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Crash { at, side, twice } => {
                let side = match side {
                    Side::Before => "before",
                    Side::After => "after",
                };
                let again = if *twice { ", twice" } else { "" };
                write!(f, "crash {side} {at}{again}")
            }
            Self::LoseAnswer { at, applied: true } => write!(f, "lost answer to {at}"),
            Self::LoseAnswer { at, applied: false } => write!(f, "lost request {at}"),
            Self::Refuse { at, with, times } => write!(f, "{with} to {at}, {times} times"),
            Self::Freeze {
                at,
                resource,
                restart: false,
            } => write!(f, "{resource} stand still from {at} on"),
            Self::Freeze { at, resource, .. } => {
                write!(f, "crash after {at}, and {resource} as they were before it")
            }
            Self::Merge { resource } => write!(f, "changes of {resource} are merged"),
            Self::Skip { step, resource } => {
                write!(
                    f,
                    "{resource} are not seen between step {} and the next change",
                    step + 1
                )
            }
            Self::Delete { at, object, anew } => {
                let anew = if *anew { " and made anew" } else { "" };
                write!(f, "{object} is deleted{anew} at {at}")
            }
            Self::Touch { at, object } => write!(f, "{object} is annotated at {at}"),
            Self::Stop { at } => {
                write!(
                    f,
                    "the replica is stopped after {at} for longer than its lease"
                )
            }
            Self::Upgrade { at, version } => {
                write!(f, "the server becomes Kubernetes {version} at {at}")
            }
            Self::Fault { fault } => write!(f, "fault {fault}"),
            Self::Change { object, change } => write!(f, "{object}: {change}"),
        }
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.perturbations.is_empty() {
            return f.write_str("without perturbation");
        }
        let texts: Vec<String> = self.perturbations.iter().map(ToString::to_string).collect();
        f.write_str(&texts.join("; "))
    }
}
