//! Every fault of the server's catalogue that informers can meet, alone: they get over it within its bound, whatever it does
//! meanwhile.
//!
//! Twice on an informer of pods that are made, changed and deleted all the time, which lists in pages or by streams: the
//! fault is there from the beginning for eight seconds, at every occasion, and at two and at four seconds all watches end,
//! so that requests meet it too. And for a minute and a half on three informers, so that waits grow as long as they can.

use std::collections::{BTreeMap, BTreeSet};

use conformance::{
    checkers::Violation,
    plan::{Action, Fault, FaultKind, InformerPlan, Operation, Plan, Resource, Tier},
    seed::Seed,
    sim::{self, Outcome},
    summary::Summary,
};
use fakeserver::faults::CATALOGUE;

/// Faults that this informer does not meet: they are about writes, about what the server has, and about lists that name a
/// version.
const ABOUT_OTHERS: [&str; 8] = [
    "lost_answer",
    "conflict",
    "already_exists",
    "denied",
    "slow_webhook",
    "discovery_unavailable",
    "entity_too_large",
    "version_too_large",
];
/// What the checkers find that want every state to be seen, when a fault is that not all of them are.
const OF_STATES_LEFT_OUT: [&str; 2] = ["silent_gaps", "reliable"];
/// How long a fault lasts that is there for long.
const LONG_MS: u64 = 90_000;
/// The seeds decide about jitter.
const SEEDS: std::ops::Range<u64> = 0..3;

/// The fault with parameters that make it felt.
fn kind(fault: &str) -> FaultKind {
    match FaultKind::named(fault).expect("the catalogue names faults") {
        FaultKind::Latency { .. } => FaultKind::Latency {
            request_ms: 700,
            frame_ms: 70,
            jitter_ms: 300,
        },
        FaultKind::HugeObjects { .. } => FaultKind::HugeObjects { bytes: 100_000 },
        kind => kind,
    }
}

fn busy(kind: FaultKind, is_streaming: bool) -> Plan {
    let mut plan = Plan::empty(Seed::new(1));
    let mut informer = InformerPlan::of(Resource::Pods);
    informer.streaming_lists = is_streaming;
    informer.page_size = 2;
    plan.informers = vec![informer];
    let pods = |at_ms, slot, action| Operation::new(at_ms, Resource::Pods, slot, action);
    plan.workload = (0..5)
        .map(|slot| pods(0, slot, Action::Create(Tier::Web)))
        .collect();
    plan.workload.extend((1..40_u8).map(|step| {
        let action = match step % 4 {
            0 => Action::Recreate(Tier::Db),
            1 | 2 => Action::Update,
            _ => Action::Delete,
        };
        pods(u64::from(step) * 200, step % 5, action)
    }));
    // There is nothing to lose at the beginning.
    let at_ms = match kind {
        FaultKind::Rollback { .. } => 1_950,
        _ => 0,
    };
    plan.faults = vec![
        Fault::new(at_ms, 8_000 - at_ms, kind),
        Fault::new(2_000, 0, FaultKind::Disconnect),
        Fault::new(4_000, 0, FaultKind::Disconnect),
    ];
    plan
}

/// Objects that are changed now and then, and the fault from the beginning, or a little later, to the end.
fn long(kind: FaultKind, seed: u64) -> Plan {
    let mut plan = Plan::empty(Seed::new(seed));
    plan.safety_ms = LONG_MS;
    plan.informers = Resource::ALL.map(InformerPlan::of).to_vec();
    plan.workload = Resource::ALL
        .map(|resource| Operation::new(0, resource, 0, Action::Create(Tier::Web)))
        .to_vec();
    for at_ms in (1_000..LONG_MS).step_by(7_000) {
        let changes =
            Resource::ALL.map(|resource| Operation::new(at_ms, resource, 0, Action::Update));
        plan.workload.extend(changes);
    }
    let at_ms = seed * 2_500;
    plan.faults = vec![Fault::new(at_ms, LONG_MS - at_ms, kind)];
    plan
}

/// Whether a violation speaks against the informer.
fn counts(fault: &str, violation: &Violation) -> bool {
    match fault {
        "coalesce" => !OF_STATES_LEFT_OUT.contains(&violation.checker),
        // The log that the others compare with has only what came after it.
        "rollback" => violation.checker == "convergence",
        _ => !violation.is_expected(),
    }
}

fn wrong(fault: &str, outcome: &Outcome) -> Vec<String> {
    let violations = outcome.violations.iter();
    let violations = violations.filter(|violation| counts(fault, violation));
    violations
        .map(|violation| format!("{fault}: {violation}"))
        .collect()
}

fn held() -> impl Iterator<Item = &'static str> {
    let held = CATALOGUE.iter().filter(|entry| entry.can_be_held);
    held.map(|entry| entry.fault)
}

#[test]
fn every_fault_that_can_be_held_is_held() {
    let mut violations = Vec::new();
    let mut unmet = BTreeSet::new();
    for fault in held() {
        let fired = [false, true].map(|is_streaming| {
            let plan = busy(kind(fault), is_streaming);
            let outcome = sim::run(&plan);
            violations.extend(wrong(fault, &outcome));
            let summary = Summary::of(plan.seed, &outcome.trace);
            summary.faults.get(fault).copied().unwrap_or_default()
        });
        if fired == [0, 0] {
            unmet.insert(fault);
        }
    }
    assert!(violations.is_empty(), "{}", violations.join("\n"));
    assert_eq!(unmet, BTreeSet::from(ABOUT_OTHERS));
}

#[test]
fn every_fault_that_lasts_is_felt_no_longer_than_its_bound() {
    let mut violations = Vec::new();
    // In milliseconds, how long it was felt at most.
    let mut felt: BTreeMap<&str, u64> = BTreeMap::new();
    // A server that goes back and then passes where it was cannot be told from one that did not: this workload does that.
    for fault in held().filter(|fault| *fault != "rollback") {
        for seed in SEEDS {
            let plan = long(kind(fault), seed);
            let outcome = sim::run(&plan);
            violations.extend(wrong(fault, &outcome));
            let summary = Summary::of(plan.seed, &outcome.trace);
            let felt = felt.entry(fault).or_default();
            *felt = summary.slowest_convergence_ms.max(*felt);
        }
    }
    assert!(violations.is_empty(), "{violations:#?}\n{felt:#?}");
    // Some are felt: the faults were there.
    for fault in ["server_error", "silence", "hang", "forbidden"] {
        assert!(felt[fault] > 1_000, "{fault}: {felt:#?}");
    }
}
