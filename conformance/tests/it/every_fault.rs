//! Every fault of the server's catalogue that informers can meet, alone: they get over it, whatever it does meanwhile.
//!
//! An informer on pods that are made, changed and deleted all the time. The fault is there from the beginning for eight
//! seconds, at every occasion; at two and at four seconds all watches end, so that requests meet it too.

use std::collections::BTreeSet;

use conformance::{
    plan::{Action, Fault, FaultKind, InformerPlan, Operation, Plan, Resource, Tier},
    seed::Seed,
    sim,
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

fn plan(kind: FaultKind, is_streaming: bool) -> Plan {
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

/// What is wrong after a run with `fault`, and how often it had an effect.
fn run(fault: &str, is_streaming: bool) -> (Vec<String>, u64) {
    let plan = plan(kind(fault), is_streaming);
    let outcome = sim::run(&plan);
    let violations = outcome.violations.iter();
    let violations = violations.filter(|violation| match fault {
        "coalesce" => !OF_STATES_LEFT_OUT.contains(&violation.checker),
        // The log that the others compare with has only what came after it.
        "rollback" => violation.checker == "convergence",
        _ => true,
    });
    let violations = violations.map(|violation| format!("{fault}: {violation}"));
    let summary = Summary::of(plan.seed, &outcome.trace);
    let fired = summary.faults.get(fault).copied().unwrap_or_default();
    (violations.collect(), fired)
}

#[test]
fn every_fault_that_can_be_held_is_held() {
    let mut violations = Vec::new();
    let mut unmet = BTreeSet::new();
    for entry in CATALOGUE.iter().filter(|entry| entry.can_be_held) {
        let (wrong, paged) = run(entry.fault, false);
        violations.extend(wrong);
        let (wrong, streaming) = run(entry.fault, true);
        violations.extend(wrong);
        if paged + streaming == 0 {
            unmet.insert(entry.fault);
        }
    }
    assert!(violations.is_empty(), "{}", violations.join("\n"));
    assert_eq!(unmet, BTreeSet::from(ABOUT_OTHERS));
}
