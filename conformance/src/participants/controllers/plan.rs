//! Controllers on top of informers: a work queue with its workers.

use std::num::NonZero;

use rand::rngs::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use crate::{
    participants::within,
    plan::{Profile, swarm::pick},
};

/// The delays before an item's first retry, each with the longest one.
pub(super) const RETRY_LIMITS_MS: [(u64, u64); 3] = [(1, 50), (5, 1_000), (200, 3_000)];
/// The same for a controller whose reconciles all fail: its items have to wait for long, in the end.
pub(super) const RETRY_LIMITS_OF_FAILING_MS: [(u64, u64); 3] =
    [(50, 5_000), (200, 60_000), (1_000, 8_000)];

/// The most operations on one queue.
const QUEUE_OPERATIONS_MAX: usize = 48;

/// The options of a controller, each to its simplest.
pub(crate) const OPTIONS: [fn(&mut ControllerPlan); 11] = [
    |controller| controller.worker_count = NonZero::<usize>::MIN,
    |controller| controller.reconcile_ms = 0,
    |controller| controller.fail_every = None,
    |controller| controller.panic_every = None,
    |controller| controller.retries_max = None,
    |controller| controller.requeue_after_ms = None,
    |controller| controller.fair_share = None,
    |controller| controller.merges_delayed = false,
    |controller| controller.stop_ms = None,
    |controller| controller.stop = QueueStop::Drain,
    |controller| controller.release_after_ms = None,
];

/// A controller: a handler that fills a queue, and workers that reconcile each item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct ControllerPlan {
    /// The time of its start.
    pub start_ms: u64,
    /// The number of its workers.
    pub worker_count: NonZero<usize>,
    /// The time of each reconcile.
    pub reconcile_ms: u64,
    /// The interval of reconciles that fail, if any do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fail_every: Option<u32>,
    /// The interval of reconciles that panic, if any do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub panic_every: Option<u32>,
    /// The number of failures in a row after which an item is not retried; there is no such number if `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retries_max: Option<u32>,
    /// The delay before an item's first retry, which doubles with each failure.
    pub retry_base_ms: u64,
    /// The longest delay before a retry.
    pub retry_max_ms: u64,
    /// The time after which a good reconcile of a present object wants to be repeated, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requeue_after_ms: Option<u64>,
    /// The number of items in a row of which one is the oldest; priorities are strict if `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fair_share: Option<NonZero<u32>>,
    /// True if a delayed item and the same item in the queue are one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub merges_delayed: bool,
    /// The time at which it stops; when its informer stops if `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_ms: Option<u64>,
    /// The way in which it stops.
    pub stop: QueueStop,
    /// The time after which a plain shutdown ends the wait of a drain, if one does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub release_after_ms: Option<u64>,
    /// The operations on its queue, in order of time. Those before its start happen at its start.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<QueueOperation>,
}

/// The way in which a controller stops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum QueueStop {
    /// It works off what is queued.
    #[default]
    Drain,
    /// It shuts down the queue first, and then works off what is queued.
    ShutDown,
    /// It drops what is queued, and finishes what is being processed.
    Now,
    /// It aborts its workers, whose items go back to the queue.
    Abort,
}

/// An operation on a controller's queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct QueueOperation {
    /// The time.
    pub at_ms: u64,
    /// The number of the object, which determines the key.
    pub slot: u8,
    /// The action.
    pub action: QueueAction,
}

/// An action on an item of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum QueueAction {
    /// Adds it with a priority.
    Add(i32),
    /// Adds it after this delay in milliseconds.
    AddAfter(u64),
    /// Counts a failure, and adds it when the limiter allows.
    AddRateLimited,
    /// Cancels its delay.
    CancelDelayed,
    /// Forgets its failures.
    Forget,
}

// === impl ControllerPlan ===

impl Default for ControllerPlan {
    fn default() -> Self {
        Self {
            start_ms: 0,
            worker_count: NonZero::<usize>::MIN,
            reconcile_ms: 0,
            fail_every: None,
            panic_every: None,
            retries_max: None,
            retry_base_ms: 5,
            retry_max_ms: 1_000,
            requeue_after_ms: None,
            fair_share: None,
            merges_delayed: false,
            stop_ms: None,
            stop: QueueStop::Drain,
            release_after_ms: None,
            operations: Vec::new(),
        }
    }
}

impl ControllerPlan {
    /// Returns its moments.
    pub(crate) fn moments_ms(&mut self) -> impl Iterator<Item = &mut u64> {
        let operations = self.operations.iter_mut();
        [&mut self.start_ms]
            .into_iter()
            .chain(&mut self.stop_ms)
            .chain(operations.map(|operation| &mut operation.at_ms))
    }

    /// Replaces the times that pass in it by some that fit into a run of some tenths of a second.
    pub(crate) fn hurry(&mut self, rng: &mut ChaCha8Rng) {
        self.reconcile_ms = pick(rng, &[0, 0, 1, 2]);
        (self.retry_base_ms, self.retry_max_ms) = (1, 50);
        // A worker has time for a crowd until its first item is back.
        self.requeue_after_ms = self.requeue_after_ms.map(|_| pick(rng, &[300, 600]));
        self.release_after_ms = self.release_after_ms.map(|_| 1);
        for operation in &mut self.operations {
            if let QueueAction::AddAfter(delay_ms) = &mut operation.action {
                *delay_ms = (*delay_ms / 50).max(1);
            }
        }
    }

    /// Restores the invariants of drawn plans.
    pub(crate) fn make_valid(&mut self, profile: Profile, safety_ms: u64) {
        self.start_ms = within(self.start_ms, safety_ms);
        self.stop_ms = self.stop_ms.map(|stop_ms| within(stop_ms, safety_ms));
        self.stop_ms = self.stop_ms.filter(|stop_ms| *stop_ms >= self.start_ms);
        // A run in real time is over before that matters.
        if profile != Profile::Brief {
            self.limit_retries();
            // More of them would fill the run.
            let least_ms = safety_ms / 20;
            self.requeue_after_ms = self
                .requeue_after_ms
                .map(|requeue_ms| requeue_ms.max(least_ms));
        }
        self.worker_count = self
            .worker_count
            .min(NonZero::new(4).unwrap_or(NonZero::<usize>::MIN));
        self.operations.truncate(QUEUE_OPERATIONS_MAX);
        self.operations.sort_by_key(|operation| operation.at_ms);
    }

    /// Keeps the delays of retries to pairs that belong together.
    fn limit_retries(&mut self) {
        let given = (self.retry_base_ms, self.retry_max_ms);
        let limits: &[(u64, u64)] = if self.fail_every == Some(1) {
            &RETRY_LIMITS_OF_FAILING_MS
        } else {
            &RETRY_LIMITS_MS
        };
        if !limits.contains(&given) {
            let near = limits.iter().find(|(base_ms, _)| *base_ms == given.0);
            (self.retry_base_ms, self.retry_max_ms) = *near.unwrap_or(&limits[1]);
        }
    }
}
