//! Controllers on top of informers: a work queue with its workers.

use std::num::NonZero;

use rand::{RngExt, rngs::ChaCha8Rng};
use serde::{Deserialize, Serialize};

use super::{
    InformerPlan, Profile, Resource,
    swarm::{Swarm, odds, pick},
};
use crate::seed::Seed;

/// The times of a reconcile: none, shorter than the gap between most changes, and longer than that.
const RECONCILE_TIMES_MS: [u64; 5] = [0, 0, 5, 50, 400];
/// The priorities of adds: lower than any other, that of live changes, and higher.
const PRIORITIES: [i32; 3] = [-200, 0, 50];

/// The delays before an item's first retry, each with the longest one.
pub(crate) const RETRY_LIMITS_MS: [(u64, u64); 3] = [(1, 50), (5, 1_000), (200, 3_000)];
/// The same for a controller whose reconciles all fail: its items have to wait for long, in the end.
pub(crate) const RETRY_LIMITS_OF_FAILING_MS: [(u64, u64); 3] =
    [(50, 5_000), (200, 60_000), (1_000, 8_000)];

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
    /// Adds it after so many milliseconds.
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
}

/// Draws the controllers of informers, by streams of their own: none in a third of all runs.
pub(crate) fn draw(seed: Seed, profile: Profile, swarm: &Swarm, informers: &mut [InformerPlan]) {
    let chances = &mut seed.stream("controllers");
    let share = odds(chances, 0.15);
    let options = &mut seed.stream("options of controllers");
    let operations = &mut seed.stream("operations of queues");
    for informer in informers {
        if !chances.random_bool(share) {
            continue;
        }
        let slots = slots(swarm, informer.selection.resource);
        let mut begins = vec![if options.random_bool(0.6) {
            0
        } else {
            options.random_range(0..swarm.safety_ms / 2)
        }];
        if profile == Profile::Large && options.random_bool(0.3) {
            begins.push(options.random_range(0..swarm.safety_ms));
        }
        while let Some(start_ms) = begins.pop() {
            let mut controller = controller(options, swarm.safety_ms, start_ms);
            controller.operations = self::operations(operations, &controller, swarm, &slots);
            // Another generation takes over.
            if let Some(stop_ms) = controller.stop_ms
                && informer.controllers.is_empty()
                && begins.is_empty()
                && options.random_bool(0.5)
            {
                begins.push(options.random_range(stop_ms..=swarm.safety_ms));
            }
            informer.controllers.push(controller);
        }
    }
}

/// Returns the numbers of the objects of a resource.
fn slots(swarm: &Swarm, resource: Resource) -> Vec<u8> {
    let of_resource = swarm.objects.iter().filter(|(own, _)| *own == resource);
    let mut slots: Vec<u8> = of_resource.map(|(_, slot)| *slot).collect();
    // A key without an object is reconciled, too.
    slots.push(slots.len().try_into().unwrap_or(u8::MAX));
    slots
}

fn controller(rng: &mut ChaCha8Rng, safety_ms: u64, start_ms: u64) -> ControllerPlan {
    let fail_every = rng.random_bool(0.5).then(|| pick(rng, &[1, 1, 2, 3, 5]));
    let limits_ms = if fail_every == Some(1) {
        RETRY_LIMITS_OF_FAILING_MS
    } else {
        RETRY_LIMITS_MS
    };
    let (retry_base_ms, retry_max_ms) = pick(rng, &limits_ms);
    ControllerPlan {
        start_ms,
        worker_count: NonZero::new(pick(rng, &[1, 1, 2, 3, 4])).unwrap_or(NonZero::<usize>::MIN),
        reconcile_ms: pick(rng, &RECONCILE_TIMES_MS),
        fail_every,
        panic_every: rng.random_bool(0.2).then(|| rng.random_range(2..8)),
        retries_max: rng.random_bool(0.15).then(|| rng.random_range(1..4)),
        retry_base_ms,
        retry_max_ms,
        requeue_after_ms: rng
            .random_bool(0.25)
            .then(|| safety_ms / pick(rng, &[3, 8, 20])),
        fair_share: rng
            .random_bool(0.5)
            .then(|| pick(rng, &[2, 3, 16]))
            .and_then(NonZero::new),
        merges_delayed: rng.random_bool(0.5),
        stop_ms: rng
            .random_bool(0.4)
            .then(|| rng.random_range(start_ms..=safety_ms)),
        stop: pick(
            rng,
            &[
                QueueStop::Drain,
                QueueStop::Drain,
                QueueStop::ShutDown,
                QueueStop::Now,
                QueueStop::Abort,
            ],
        ),
        release_after_ms: rng.random_bool(0.2).then(|| pick(rng, &[0, 40, 200])),
        operations: Vec::new(),
    }
}

/// Draws operations in groups, one of them right before the controller stops.
fn operations(
    rng: &mut ChaCha8Rng,
    controller: &ControllerPlan,
    swarm: &Swarm,
    slots: &[u8],
) -> Vec<QueueOperation> {
    let start_ms = controller.start_ms;
    let end_ms = controller.stop_ms.unwrap_or(swarm.safety_ms);
    let mut operations = Vec::new();
    for _ in 0..rng.random_range(0..=3) {
        let at_ms = rng.random_range(start_ms..=end_ms);
        operations.extend(group(rng, at_ms, slots));
    }
    if controller.stop_ms.is_some() && rng.random_bool(0.7) {
        let at_ms = end_ms.saturating_sub(rng.random_range(0..=300));
        operations.extend(group(rng, at_ms.max(start_ms), slots));
    }
    operations.sort_by_key(|operation| operation.at_ms);
    operations
}

/// Draws operations that belong together: several delays or failures of one item, or adds of many items.
fn group(rng: &mut ChaCha8Rng, at_ms: u64, slots: &[u8]) -> Vec<QueueOperation> {
    let slot = pick(rng, slots);
    let kind = rng.random_range(0..3);
    let mut later_ms = at_ms;
    let mut operation = |rng: &mut ChaCha8Rng, gaps_ms: &[u64]| {
        later_ms += pick(rng, gaps_ms);
        let (slot, action) = match kind {
            0 => (slot, delaying(rng)),
            1 => (slot, failing(rng)),
            _ => (pick(rng, slots), QueueAction::Add(pick(rng, &PRIORITIES))),
        };
        QueueOperation {
            at_ms: later_ms,
            slot,
            action,
        }
    };
    let (count, gaps_ms): (usize, &[u64]) = match kind {
        0 | 1 => (rng.random_range(2..=5), &[0, 0, 10, 100]),
        _ => (rng.random_range(3..=12), &[0, 0, 0, 1]),
    };
    (0..count).map(|_| operation(rng, gaps_ms)).collect()
}

fn delaying(rng: &mut ChaCha8Rng) -> QueueAction {
    match rng.random_range(0..6) {
        0 => QueueAction::CancelDelayed,
        1 => QueueAction::Add(pick(rng, &PRIORITIES)),
        _ => QueueAction::AddAfter(pick(rng, &[10, 100, 250, 2_000])),
    }
}

fn failing(rng: &mut ChaCha8Rng) -> QueueAction {
    if rng.random_bool(0.2) {
        QueueAction::Forget
    } else {
        QueueAction::AddRateLimited
    }
}
