//! The harness is able to fail: what no correct server does is found, by the checkers named here.
//!
//! One informer on all config maps, one watch, no other fault. The watch brings five events while faults are in force; the
//! control happens to one of them.

use std::collections::BTreeSet;

use conformance::{
    plan::{Action, Fault, FaultKind, InformerPlan, Operation, Plan, Resource, Tier},
    seed::Seed,
    sim,
};

const SAFETY_MS: u64 = 10_000;

/// The checkers of what the server promises: what they find is expected where the server is wrong on purpose.
const OF_SERVER: [&str; 6] = [
    "reliable",
    "ordered",
    "unique",
    "bookmarkable",
    "resumable",
    "list_snapshots",
];

/// Two config maps: one is changed time and again, the other comes and goes. Then the server does `kind` to the event after
/// `skip` others.
fn plan(kind: FaultKind, skip: u64) -> Plan {
    let mut plan = Plan::empty(Seed::new(1));
    plan.safety_ms = SAFETY_MS;
    plan.informers = vec![InformerPlan::of(Resource::ConfigMaps)];
    let maps = |at_ms, slot, action| Operation::new(at_ms, Resource::ConfigMaps, slot, action);
    plan.workload = vec![
        maps(0, 0, Action::Create(Tier::Web)),
        maps(1_000, 0, Action::Update),
        maps(1_000, 1, Action::Create(Tier::Web)),
        maps(2_000, 0, Action::Update),
        maps(3_000, 0, Action::Update),
        maps(3_000, 1, Action::Delete),
    ];
    plan.faults = vec![Fault::new(500, SAFETY_MS - 500, kind).after(skip).times(1)];
    plan
}

/// Which checkers find something.
fn found(plan: &Plan) -> BTreeSet<&'static str> {
    let outcome = sim::run(plan);
    outcome
        .violations
        .iter()
        .map(|violation| violation.checker)
        .collect()
}

fn check(kind: FaultKind, skip: u64, want: &[&str]) {
    let plan = plan(kind, skip);
    let found = found(&plan);
    for violation in sim::run(&plan).violations {
        let is_of_server = OF_SERVER.contains(&violation.checker);
        assert_eq!(violation.is_expected(), is_of_server, "{violation}");
    }
    for checker in want {
        assert!(
            found.contains(checker),
            "{kind:?} after {skip}: {checker} found nothing; {found:?} did"
        );
    }
}

#[test]
fn without_a_control_all_is_well() {
    let mut plan = plan(FaultKind::DropEvent, 0);
    plan.faults.clear();
    assert_eq!(found(&plan), BTreeSet::new());
}

#[test]
fn a_dropped_event_is_found() {
    // The first: the cache gets over it, but not unnoticed.
    check(FaultKind::DropEvent, 0, &["reliable", "silent_gaps"]);
    check(FaultKind::DropEvent, 2, &["reliable", "silent_gaps"]);
    // The deletion: nothing ever mends it.
    check(FaultKind::DropEvent, 4, &["convergence", "lost_deletes"]);
}

#[test]
fn a_duplicated_event_is_found() {
    check(FaultKind::DuplicateEvent, 0, &["unique"]);
    check(FaultKind::DuplicateEvent, 4, &["unique"]);
}

#[test]
fn reordered_events_are_found() {
    check(FaultKind::ReorderEvents, 0, &["ordered"]);
    check(FaultKind::ReorderEvents, 2, &["ordered"]);
}

#[test]
fn a_bookmark_ahead_of_its_event_is_found() {
    check(
        FaultKind::BookmarkAhead,
        0,
        &["bookmarkable", "silent_gaps"],
    );
    check(
        FaultKind::BookmarkAhead,
        4,
        &["bookmarkable", "convergence", "lost_deletes"],
    );
}
