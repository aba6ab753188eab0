//! Draws plans from seeds: which faults, how many operations, which handlers.
//!
//! Each plan first draws its own limits (how many objects, which faults may happen at all) and then draws within them, so
//! that runs differ in kind and not only in detail: some are all label flips under one fault, some a little of everything.

use rand::{
    RngExt,
    seq::{IndexedRandom, SliceRandom},
};
use rand_chacha::ChaCha8Rng;

use super::{
    Action, Fault, FaultKind, HandlerPlan, InformerPlan, NAMESPACES, Operation, Plan, Resource,
    Selection, Tier,
};
use crate::seed::Seed;

/// How much a plan holds at most.
const OPERATION_COUNT_MAX: usize = 90;
const FAULT_COUNT_MAX: usize = 8;
const SLOT_COUNT_MAX: u8 = 14;

// === impl Plan ===

impl Plan {
    /// The plan of a seed.
    pub fn draw(seed: Seed) -> Self {
        let mut shape = seed.stream("shape");
        let safety_ms = *[8_000, 20_000, 45_000, 90_000, 240_000]
            .choose(&mut shape)
            .expect("there are choices");
        Self {
            seed,
            safety_ms,
            informers: informers(&mut seed.stream("informers"), safety_ms),
            workload: workload(&mut seed.stream("workload"), safety_ms),
            faults: faults(&mut seed.stream("faults"), safety_ms),
        }
    }
}

fn informers(rng: &mut ChaCha8Rng, safety_ms: u64) -> Vec<InformerPlan> {
    let extra = rng.random_bool(0.25).then_some(Resource::Pods);
    Resource::ALL
        .into_iter()
        .chain(extra)
        .map(|resource| informer(rng, resource, safety_ms))
        .collect()
}

fn informer(rng: &mut ChaCha8Rng, resource: Resource, safety_ms: u64) -> InformerPlan {
    let is_in_namespace = resource.is_namespaced() && rng.random_bool(0.2);
    let namespace = *NAMESPACES.choose(rng).expect("there are namespaces");
    let selection = Selection {
        resource,
        namespace: is_in_namespace.then(|| namespace.to_owned()),
        label: rng.random_bool(0.4).then(|| "web".to_owned()),
    };
    let handler_count = rng.random_range(1..=3);
    InformerPlan {
        selection,
        start_ms: if rng.random_bool(0.7) {
            0
        } else {
            rng.random_range(0..safety_ms / 2)
        },
        page_size: *[2, 5, 500].choose(rng).expect("there are choices"),
        streaming_lists: rng.random_bool(0.6),
        watch_timeout_s: *[20, 60, 300].choose(rng).expect("there are choices"),
        handlers: (0..handler_count)
            .map(|_| handler(rng, safety_ms))
            .collect(),
    }
}

fn handler(rng: &mut ChaCha8Rng, safety_ms: u64) -> HandlerPlan {
    let join_ms = if rng.random_bool(0.6) {
        0
    } else {
        rng.random_range(0..safety_ms)
    };
    HandlerPlan {
        join_ms,
        leave_ms: rng
            .random_bool(0.15)
            .then(|| rng.random_range(join_ms..=safety_ms)),
        leave_at_count: rng.random_bool(0.1).then(|| rng.random_range(1..12)),
        resync_ms: rng
            .random_bool(0.2)
            .then(|| rng.random_range(2_000..20_000)),
        panic_every: rng.random_bool(0.1).then(|| rng.random_range(2..10)),
    }
}

fn workload(rng: &mut ChaCha8Rng, safety_ms: u64) -> Vec<Operation> {
    let slot_count = rng.random_range(2..=SLOT_COUNT_MAX);
    let initial_count = rng.random_range(0..=slot_count);
    let operation_count = rng.random_range(5..=OPERATION_COUNT_MAX);
    // Operations come in bursts as often as one by one: a burst is what several changes within one instant look like.
    let is_bursty = rng.random_bool(0.5);
    let mut operations = Vec::new();
    for resource in Resource::ALL {
        for slot in 0..initial_count {
            operations.push(Operation::new(0, resource, slot, Action::Create(tier(rng))));
        }
    }
    let mut at_ms = 1;
    for _ in 0..operation_count {
        if !is_bursty || rng.random_bool(0.3) {
            at_ms = rng.random_range(1..safety_ms);
        }
        let resource = *Resource::ALL.choose(rng).expect("there are resources");
        let slot = rng.random_range(0..slot_count);
        let action = action(rng);
        operations.push(Operation::new(at_ms, resource, slot, action));
    }
    operations.sort_by_key(|operation| operation.at_ms);
    operations
}

fn action(rng: &mut ChaCha8Rng) -> Action {
    match rng.random_range(0..100) {
        0..25 => Action::Create(tier(rng)),
        25..45 => Action::Update,
        45..65 => Action::Relabel(tier(rng)),
        65..80 => Action::Delete,
        80..88 => Action::Recreate(tier(rng)),
        88..94 => Action::Hold,
        _ => Action::Release,
    }
}

fn tier(rng: &mut ChaCha8Rng) -> Tier {
    *[Tier::Web, Tier::Web, Tier::Db, Tier::None]
        .choose(rng)
        .expect("there are tiers")
}

fn faults(rng: &mut ChaCha8Rng, safety_ms: u64) -> Vec<Fault> {
    let mut kinds: Vec<fn(&mut ChaCha8Rng) -> FaultKind> = DRAWN.to_vec();
    kinds.shuffle(rng);
    kinds.truncate(rng.random_range(1..=kinds.len()));
    let count = rng.random_range(1..=FAULT_COUNT_MAX);
    let mut faults: Vec<Fault> = (0..count)
        .map(|_| {
            let draw = kinds.choose(rng).expect("one kind at least is left");
            let kind = draw(rng);
            // Streaming lists are rare but at the beginning.
            let at_once = if is_about_streaming_lists(kind) {
                0.7
            } else {
                0.2
            };
            let at_ms = if rng.random_bool(at_once) {
                0
            } else {
                rng.random_range(0..safety_ms)
            };
            Fault {
                at_ms,
                for_ms: rng.random_range(100..=safety_ms / 2),
                informer: rng.random_bool(0.5).then(|| rng.random_range(0..3)),
                skip: if rng.random_bool(0.5) {
                    0
                } else {
                    rng.random_range(1..6)
                },
                times: rng.random_bool(0.7).then(|| rng.random_range(1..4)),
                kind,
            }
        })
        .collect();
    faults.sort_by_key(|fault| fault.at_ms);
    faults
}

/// One drawing a kind of fault: all that a correct client must survive. Negative controls are never drawn.
const DRAWN: [fn(&mut ChaCha8Rng) -> FaultKind; 15] = [
    |_| FaultKind::CleanEnd,
    |_| FaultKind::ResetMidLine,
    |_| FaultKind::Silence,
    |_| FaultKind::ExpiredEvent,
    |_| FaultKind::ExpiredStatus,
    |rng| FaultKind::Throttle(rng.random_range(1..=20)),
    |rng| FaultKind::ServerError(if rng.random_bool(0.5) { 500 } else { 503 }),
    |rng| FaultKind::Latency(rng.random_range(1..=5_000)),
    |_| FaultKind::Hang,
    |_| FaultKind::WatchListIgnored,
    |_| FaultKind::WatchListRejected,
    |_| FaultKind::EndBeforeInitialEventsEnd,
    |_| FaultKind::Compact,
    |_| FaultKind::Expire,
    |_| FaultKind::Disconnect,
];

fn is_about_streaming_lists(kind: FaultKind) -> bool {
    matches!(
        kind,
        FaultKind::WatchListIgnored
            | FaultKind::WatchListRejected
            | FaultKind::EndBeforeInitialEventsEnd
    )
}
