//! Draws the faults of a plan: each by itself, from a generator of the plan's seed and the fault's name.
//!
//! A fault draws its occurrences without regard to other faults: the rank, the time, the target and the parameters of
//! each. A plan has the occurrences of the lowest ranks, as many as its size allows. So the occurrences of one fault do
//! not depend on other faults, except for their number: a fault that is added to the list pushes out as many
//! occurrences as it has in the plan, and a fault that is removed makes room for as many. If it has none, nothing
//! changes. No other part of a plan depends on its faults.

use fakeserver::faults::{Fault, Target};
use rand::{RngExt, rngs::ChaCha8Rng, seq::IteratorRandom};

use super::{PlannedFault, swarm::Swarm};
use crate::seed::Seed;

/// The highest rank of a fault's first occurrence.
pub(crate) const RANK_MAX: u64 = 1 << 32;
/// The shortest duration of a fault.
const DURATION_MIN_MS: u64 = 100;

/// An occurrence of a fault that a plan has if its rank is low enough.
struct Occurrence {
    rank: u64,
    fault: PlannedFault,
}

/// Returns the faults of random plans: those that a client meets which only reads, and that a correct one recovers from.
pub(crate) fn drawable() -> Vec<Fault> {
    Fault::all()
        .filter(|fault| fault.entry().is_drawn())
        .collect()
}

/// Draws the faults of the plan of a seed out of `among`, in order of time.
pub(crate) fn draw(
    seed: Seed,
    swarm: &Swarm,
    informer_count: usize,
    among: &[Fault],
) -> Vec<PlannedFault> {
    let mut occurrences: Vec<Occurrence> = among
        .iter()
        .flat_map(|fault| occurrences(seed, swarm, informer_count, *fault))
        .collect();
    occurrences.sort_by_key(|occurrence| (occurrence.rank, occurrence.fault.kind.name()));
    occurrences.truncate(swarm.fault_count);
    let mut faults: Vec<PlannedFault> = occurrences
        .into_iter()
        .map(|occurrence| occurrence.fault)
        .collect();
    faults.sort_by_key(|fault| fault.at_ms);
    faults
}

/// Returns as many occurrences of a fault as a plan can have, in order of rank.
fn occurrences(
    seed: Seed,
    swarm: &Swarm,
    informer_count: usize,
    kind: Fault,
) -> impl Iterator<Item = Occurrence> {
    let mut rng = seed.stream(&format!("fault {}", kind.name()));
    let mut rank = rng.random_range(0..RANK_MAX);
    (0..swarm.fault_count).map(move |_| {
        let occurrence = Occurrence {
            rank,
            fault: occurrence(&mut rng, swarm, informer_count, kind),
        };
        rank += rng.random_range(0..=swarm.rank_step);
        occurrence
    })
}

fn occurrence(
    rng: &mut ChaCha8Rng,
    swarm: &Swarm,
    informer_count: usize,
    kind: Fault,
) -> PlannedFault {
    let odds = swarm.faults;
    let kind = kind.drawn(rng.random());
    let (at_ms, for_ms) = time(rng, swarm, kind);
    PlannedFault {
        at_ms,
        for_ms,
        informer: rng
            .random_bool(odds.for_one_informer)
            .then(|| rng.random_range(0..informer_count)),
        skip: if rng.random_bool(odds.skips) {
            rng.random_range(1..6)
        } else {
            0
        },
        times: rng
            .random_bool(odds.counted)
            .then(|| rng.random_range(1..4)),
        kind,
    }
}

/// Draws the beginning and the duration of a fault: from one moment of faults to another, if the run has such moments.
fn time(rng: &mut ChaCha8Rng, swarm: &Swarm, kind: Fault) -> (u64, u64) {
    // Streaming lists are rare except at the beginning.
    let at_once = match kind.entry().target {
        Target::StreamingLists => 0.7,
        _ => swarm.faults.at_once,
    };
    let moments = || swarm.fault_moments.iter().copied();
    let at_ms = if rng.random_bool(at_once) {
        0
    } else {
        moments()
            .choose(rng)
            .unwrap_or_else(|| rng.random_range(0..swarm.safety_ms))
    };
    let durations = DURATION_MIN_MS..=swarm.safety_ms / 2;
    let for_ms = moments()
        .filter_map(|moment| moment.checked_sub(at_ms))
        .filter(|for_ms| durations.contains(for_ms))
        .choose(rng)
        .unwrap_or_else(|| rng.random_range(durations.clone()));
    (at_ms, for_ms)
}
