//! Events of controllers and their queues.

use std::{
    fmt::{self, Display, Formatter},
    time::Duration,
};

use super::{
    in_file::{Lane, Objects, Source},
    member::{Key, State},
    table::observations,
    text::or_none,
};
use crate::{
    plan::{ControllerPlan, QueueAction, QueueStop},
    tracefile::{EventKind, seconds},
};

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

observations! {
    /// An event of a controller's queue or workers.
    #[derive(Clone, Debug, PartialEq)]
    #[non_exhaustive]
    pub enum QueueEvent {
        /// The controller starts.
        Starts(plan: Box<ControllerPlan>) => ("starts with {} workers", plan.worker_count);
        /// Its handler is notified, and is about to add the key.
        Heard {
            /// The key.
            key: Key,
            /// The new state; `None` after a deletion.
            state: Option<State>,
            /// True for an object of the initial state, and for one that has not changed.
            can_wait: bool,
        } => ("hears of {key}: {}{}", or_none(state.as_ref()), if *can_wait { ", which can wait" } else { "" });
        /// Its owner has performed an action on an item.
        Operated {
            /// The item.
            key: Key,
            /// The action.
            action: QueueAction,
            /// True if it was a cancellation of an item that was delayed.
            has_cancelled: bool,
        } => ("queue: {action:?} {key}{}", if *has_cancelled { ", was delayed" } else { "" });
        /// A worker begins to reconcile an item.
        Begins {
            /// The item.
            key: Key,
            /// The state in the cache.
            shown: Option<State>,
        } => ("begins {key}, cache {}", or_none(shown.as_ref()));
        /// The reconcile of an item ends. Right after that, the worker tells the queue.
        Ends {
            /// The item.
            key: Key,
            /// The end.
            outcome: ReconcileOutcome,
        } => ("ends {key}: {outcome:?}");
        /// The queue tells of its items.
        Stands(standing: Standing) => ("queue: {standing}");
        /// The controller begins to stop.
        Stops(stop: QueueStop) => ("stops: {stop:?}");
        /// A plain shutdown is about to end the wait of its drain.
        Releases => ("is shut down while it drains");
        /// Its drain has ended.
        Drained {
            /// True if the drain says that everything was worked off, false if a plain shutdown ended it.
            is_all: bool,
        } => ("{}", if *is_all { "has drained" } else { "drains no longer" });
        /// The controller has stopped.
        Stopped => ("stopped");
    }
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

// === impl Controlled ===

impl Controlled {
    /// Returns the actor and the event in a trace file, which has no items of queues.
    pub(super) fn in_file(&self, objects: &mut dyn Objects) -> Option<(Option<usize>, EventKind)> {
        let informer = self.informer;
        let shown = match &self.event {
            QueueEvent::Stands(_) => return None,
            QueueEvent::Heard { key, state, .. } => Some((key, state)),
            QueueEvent::Begins { key, shown } => Some((key, shown)),
            _ => None,
        };
        let shown = shown.and_then(|(key, state)| Some((key, state.as_ref()?)));
        let object =
            shown.map(|(key, state)| objects.object(Source::Informer(informer), key, &state.uid));
        let kind = EventKind::Note {
            say: self.event.to_string(),
            object,
            revision: shown.map(|(_, state)| state.revision),
        };
        let actor = objects.actor(Lane::Controller(informer, self.controller));
        Some((actor, kind))
    }
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
