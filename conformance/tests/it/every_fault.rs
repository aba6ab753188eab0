//! Every fault of the catalogue that concerns informers, alone: they recover within its bound.
//!
//! Twice on an informer of pods that are created, changed and deleted all the time, with lists in pages or streams: the
//! fault is in force from the beginning for eight seconds, at every occasion, and at two and at four seconds all watches
//! end, so that it hits requests, too. And for a minute and a half on three informers, so that waits grow as long as they can.

use std::collections::{BTreeMap, BTreeSet};

use conformance::{
    checkers::Violation,
    participants::InformerPlan,
    plan::{Action, Operation, PlannedFault, Resource, Tier},
    seed::Seed,
    sim::{self, Outcome, Plan, RunOptions},
    summary::Summary,
};
use fakeserver::faults::{Fault, HugeObjects, Latency, Target};

/// The checkers that expect every state to be seen, for faults that skip some.
const OF_STATES_LEFT_OUT: [&str; 2] = ["silent_gaps", "reliable"];
/// The duration of a long fault.
const LONG_MS: u64 = 90_000;
/// The seeds of jitter.
const SEEDS: std::ops::Range<u64> = 0..3;

/// Returns the fault with parameters that have an effect.
fn effective(fault: Fault) -> Fault {
    match fault {
        Fault::Latency(_) => Fault::Latency(Latency {
            request_ms: 700,
            frame_ms: 70,
            jitter_ms: 300,
        }),
        Fault::HugeObjects(_) => Fault::HugeObjects(HugeObjects { bytes: 100_000 }),
        fault => fault,
    }
}

fn busy(kind: Fault, is_streaming: bool) -> Plan {
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
        Fault::Rollback(_) => 1_950,
        _ => 0,
    };
    plan.faults = vec![
        PlannedFault::new(at_ms, 8_000 - at_ms, kind),
        PlannedFault::new(2_000, 0, Fault::Disconnect),
        PlannedFault::new(4_000, 0, Fault::Disconnect),
    ];
    plan
}

/// Returns a plan with changes now and then, and the fault from the beginning, or a little later, to the end.
fn long(kind: Fault, seed: u64) -> Plan {
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
    plan.faults = vec![PlannedFault::new(at_ms, LONG_MS - at_ms, kind)];
    plan
}

/// Returns true if a violation counts against the informer.
fn counts(fault: Fault, violation: &Violation) -> bool {
    match fault {
        Fault::Coalesce(_) => !OF_STATES_LEFT_OUT.contains(&violation.checker),
        // The log, with which the others compare, has later changes only.
        Fault::Rollback(_) => violation.checker == "convergence",
        _ => !violation.is_expected(),
    }
}

fn wrong(fault: Fault, outcome: &Outcome) -> Vec<String> {
    let violations = outcome.violations.iter();
    let violations = violations.filter(|violation| counts(fault, violation));
    violations
        .map(|violation| format!("{}: {violation}", fault.name()))
        .collect()
}

fn held() -> impl Iterator<Item = Fault> {
    Fault::all().filter(|fault| fault.entry().can_be_held())
}

/// Returns true if a fault does not concern this informer: it is about writes, discovery, or lists at a version.
fn is_about_others(fault: Fault) -> bool {
    let is_about_others = matches!(fault.entry().target, Target::Writes | Target::Discovery);
    is_about_others || matches!(fault, Fault::VersionTooLarge(_))
}

#[test]
fn every_fault_that_can_be_held_is_held() {
    let mut violations = Vec::new();
    let mut unmet = BTreeSet::new();
    for fault in held() {
        let fired = [false, true].map(|is_streaming| {
            let plan = busy(effective(fault), is_streaming);
            let outcome = sim::run(&plan, &RunOptions::default());
            violations.extend(wrong(fault, &outcome));
            let summary = Summary::of(plan.seed, &outcome.trace);
            summary
                .faults
                .get(fault.name())
                .copied()
                .unwrap_or_default()
        });
        if fired == [0, 0] {
            unmet.insert(fault.name());
        }
    }
    assert!(violations.is_empty(), "{}", violations.join("\n"));
    let expected = held().filter(|fault| is_about_others(*fault));
    assert_eq!(unmet, expected.map(Fault::name).collect());
}

#[test]
fn every_fault_that_lasts_is_felt_no_longer_than_its_bound() {
    let mut violations = Vec::new();
    // The longest effect, in milliseconds.
    let mut felt: BTreeMap<&str, u64> = BTreeMap::new();
    // A server that goes back and then passes its old revision is like one that did not: this workload does that.
    for fault in held().filter(|fault| !matches!(fault, Fault::Rollback(_))) {
        for seed in SEEDS {
            let plan = long(effective(fault), seed);
            let outcome = sim::run(&plan, &RunOptions::default());
            violations.extend(wrong(fault, &outcome));
            let summary = Summary::of(plan.seed, &outcome.trace);
            let felt = felt.entry(fault.name()).or_default();
            *felt = summary.slowest_convergence_ms.max(*felt);
        }
    }
    assert!(violations.is_empty(), "{violations:#?}\n{felt:#?}");
    // Some have an effect: the faults happened.
    for fault in ["server_error", "silence", "hang", "forbidden"] {
        assert!(felt[fault] > 1_000, "{fault}: {felt:#?}");
    }
}
