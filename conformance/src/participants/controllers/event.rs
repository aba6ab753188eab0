//! Events of controllers and their queues.

use std::{
    fmt::{self, Display, Formatter},
    time::Duration,
};

use super::plan::{ControllerPlan, QueueAction, QueueStop};
use crate::{
    trace::{Event, Key, Lane, Objects, Source, State, observations, or_none},
    tracefile::{EventKind, seconds},
};

/// The message of the log after a panic of a reconcile.
const PANICKED: &str = "reconcile panicked";
/// The message of the log about an item that is not retried any more.
const GIVEN_UP: &str = "item given up after too many retries";

/// An event of a controller.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "tests write them by hand")]
pub struct ControllerEvent {
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
    #[expect(missing_docs, reason = "fields without docs are what their names say")]
    #[non_exhaustive]
    pub enum QueueEvent {
        /// The controller starts.
        Starts(plan: Box<ControllerPlan>) => ("starts with {} workers", plan.worker_count);
        /// Its handler is notified, and is about to add the key.
        Heard {
            key: Key,
            /// The new state; `None` after a deletion.
            state: Option<State>,
            /// True for an object of the initial state, and for one that has not changed.
            can_wait: bool,
        } => ("hears of {key}: {}{}", or_none(state.as_ref()), if *can_wait { ", which can wait" } else { "" });
        /// Its owner has performed an action on an item.
        Operated {
            key: Key,
            action: QueueAction,
            /// True if it was a cancellation of an item that was delayed.
            has_cancelled: bool,
        } => ("queue: {action:?} {key}{}", if *has_cancelled { ", was delayed" } else { "" });
        /// A worker begins to reconcile an item.
        Begins {
            key: Key,
            /// The state in the cache.
            cached: Option<State>,
        } => ("begins {key}, cache {}", or_none(cached.as_ref()));
        /// The reconcile of an item ends. Right after that, the worker tells the queue.
        Ends {
            key: Key,
            /// The end.
            outcome: ReconcileOutcome,
        } => ("ends {key}: {outcome:?}");
        /// The queue tells of its items.
        Stands(standing: QueueState) => ("queue: {standing}");
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
pub struct QueueState {
    /// The number of queued items.
    pub queued_count: usize,
    /// The number of items in flight.
    pub processing_count: usize,
    /// The delayed items, in order of the keys, and the times at which they are due.
    pub delayed: Vec<(Key, Duration)>,
    /// The number of failures of all items that were reconciled, since each was last forgotten.
    pub failure_count: u32,
}

// === impl ControllerEvent ===

impl Event for ControllerEvent {
    /// Returns the actor and the event in a trace file, which has no items of queues.
    fn in_file(&self, objects: &mut dyn Objects) -> Option<(Option<usize>, EventKind)> {
        let informer = self.informer;
        let cached = match &self.event {
            QueueEvent::Stands(_) => return None,
            QueueEvent::Heard { key, state, .. } => Some((key, state)),
            QueueEvent::Begins { key, cached } => Some((key, cached)),
            _ => None,
        };
        let cached = cached.and_then(|(key, state)| Some((key, state.as_ref()?)));
        let object =
            cached.map(|(key, state)| objects.object(Source::Informer(informer), key, &state.uid));
        let kind = EventKind::Note {
            say: self.event.to_string(),
            object,
            revision: cached.map(|(_, state)| state.revision),
        };
        let actor = objects.actor(Lane::Controller(informer, self.controller));
        Some((actor, kind))
    }

    fn warnings(&self) -> &'static [&'static str] {
        let QueueEvent::Starts(plan) = &self.event else {
            return &[];
        };
        match (plan.panic_every, plan.retries_max) {
            (Some(_), Some(_)) => &[PANICKED, GIVEN_UP],
            (Some(_), None) => &[PANICKED],
            (None, Some(_)) => &[GIVEN_UP],
            (None, None) => &[],
        }
    }
}

impl Display for ControllerEvent {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "controller {}.{} {}",
            self.informer, self.controller, self.event
        )
    }
}

impl Display for QueueState {
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
