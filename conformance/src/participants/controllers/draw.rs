//! Draws controllers.

use std::num::NonZero;

use rand::{RngExt, rngs::ChaCha8Rng};

use super::plan::{
    ControllerPlan, QueueAction, QueueOperation, QueueStop, RETRY_LIMITS_MS,
    RETRY_LIMITS_OF_FAILING_MS,
};
use crate::{
    participants::InformerPlan,
    plan::{
        Profile, Resource,
        swarm::{Swarm, odds, pick},
    },
    seed::Seed,
};

/// The times of a reconcile: none, shorter than the gap between most changes, and longer than that.
const RECONCILE_TIMES_MS: [u64; 5] = [0, 0, 5, 50, 400];
/// The priorities of adds: lower than any other, that of live changes, and higher.
const PRIORITIES: [i32; 3] = [-200, 0, 50];

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
