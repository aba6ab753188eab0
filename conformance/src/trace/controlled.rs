//! Events of controllers and their queues.

use std::{
    fmt::{self, Display, Formatter},
    time::Duration,
};

use super::observation::{Key, State, seconds};
use crate::plan::{ControllerPlan, QueueAction, QueueStop};

/// An event of a controller.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "tests write them by hand")]
pub struct Controlled {
    /// The informer.
    pub informer: usize,
    /// The number of the controller at its informer.
    pub controller: usize,
    /// The event.
    pub event: QueueEvent,
}

/// An event of a controller's queue or workers.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum QueueEvent {
    /// The controller starts.
    Starts(Box<ControllerPlan>),
    /// Its handler is notified, and is about to add the key.
    Heard {
        /// The key.
        key: Key,
        /// The new state; `None` after a deletion.
        state: Option<State>,
        /// True for an object of the initial state, and for one that has not changed.
        can_wait: bool,
    },
    /// Its owner has performed an action on an item.
    Operated {
        /// The item.
        key: Key,
        /// The action.
        action: QueueAction,
        /// True if it was a cancellation of an item that was delayed.
        has_cancelled: bool,
    },
    /// A worker begins to reconcile an item.
    Begins {
        /// The item.
        key: Key,
        /// The state in the cache.
        shown: Option<State>,
    },
    /// The reconcile of an item ends. Right after that, the worker tells the queue.
    Ends {
        /// The item.
        key: Key,
        /// The end.
        outcome: ReconcileOutcome,
    },
    /// The queue tells of its items.
    Stands(Standing),
    /// The controller begins to stop.
    Stops(QueueStop),
    /// A plain shutdown is about to end the wait of its drain.
    Releases,
    /// Its drain has ended.
    Drained {
        /// True if the drain says that everything was worked off, false if a plain shutdown ended it.
        is_all: bool,
    },
    /// The controller has stopped.
    Stopped,
}

/// The end of a reconcile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReconcileOutcome {
    /// It succeeded.
    Done,
    /// It succeeded, and wants to be repeated after this time.
    RequeueAfter(Duration),
    /// It failed.
    Failed,
    /// It panicked.
    Panicked,
    /// It was dropped.
    Dropped,
}

/// The items of a queue at one moment, as it tells of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "tests write them by hand")]
pub struct Standing {
    /// The number of queued items.
    pub queued_count: usize,
    /// The number of items in flight.
    pub processing_count: usize,
    /// The delayed items, in order of the keys, and the times at which they are due.
    pub delayed: Vec<(Key, Duration)>,
    /// The number of failures of all items that were reconciled, since each was last forgotten.
    pub failure_count: u32,
}

impl Display for Controlled {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "controller {}.{} {}",
            self.informer, self.controller, self.event
        )
    }
}

impl Display for QueueEvent {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Starts(plan) => write!(f, "starts with {} workers", plan.worker_count),
            Self::Heard {
                key,
                state,
                can_wait,
            } => {
                let priority = if *can_wait { ", which can wait" } else { "" };
                write!(f, "hears of {key}: {}{priority}", OrNone(state.as_ref()))
            }
            Self::Operated {
                key,
                action,
                has_cancelled,
            } => {
                let end = if *has_cancelled { ", was delayed" } else { "" };
                write!(f, "queue: {action:?} {key}{end}")
            }
            Self::Begins { key, shown } => {
                write!(f, "begins {key}, cache {}", OrNone(shown.as_ref()))
            }
            Self::Ends { key, outcome } => write!(f, "ends {key}: {outcome:?}"),
            Self::Stands(standing) => write!(f, "queue: {standing}"),
            Self::Stops(stop) => write!(f, "stops: {stop:?}"),
            Self::Releases => f.write_str("is shut down while it drains"),
            Self::Drained { is_all: true } => f.write_str("has drained"),
            Self::Drained { is_all: false } => f.write_str("drains no longer"),
            Self::Stopped => f.write_str("stopped"),
        }
    }
}

impl Display for Standing {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} queued, {} in flight, {} failures, {} delayed",
            self.queued_count,
            self.processing_count,
            self.failure_count,
            self.delayed.len()
        )?;
        self.delayed
            .iter()
            .try_for_each(|(key, due)| write!(f, " {key}:{}", seconds(*due)))
    }
}

/// Formats a state, or that there is none.
struct OrNone<'a>(Option<&'a State>);

impl Display for OrNone<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(state) => state.fmt(f),
            None => f.write_str("none"),
        }
    }
}
