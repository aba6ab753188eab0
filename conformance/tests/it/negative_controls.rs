//! The harness is able to fail: each invariant has a checker, which finds its violations.
//!
//! One informer of all config maps, with one watch, which delivers five events while faults are in force. Most controls
//! are servers that deviate from every correct one; the last one is a client with a seeded bug, since no server can
//! make a client send requests without a pause. Caches that go back in time are among the `bugs`.

use std::collections::BTreeSet;

use conformance::{
    bugs::Bug,
    hunt,
    participants::InformerPlan,
    plan::{Action, Operation, PlannedFault, Resource, Tier},
    seed::Seed,
    sim::{self, Outcome, Plan, RunOptions},
};
use fakeserver::faults::{self, Answer, Fault, Faults, RuleGuard, ServerError};
use http::{HeaderValue, StatusCode, header};

const SAFETY_MS: u64 = 10_000;

/// The checkers of the server's promises: their findings are expected if a fault breaks them.
const OF_SERVER: [&str; 6] = [
    "reliable",
    "ordered",
    "unique",
    "bookmarkable",
    "resumable",
    "list_snapshots",
];

/// Returns a plan with two config maps: one changes repeatedly, the other comes and goes.
fn plan(faults: &[PlannedFault]) -> Plan {
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
    plan.faults = faults.to_vec();
    plan
}

/// Returns a fault that has one effect, after `skip` occasions.
fn once(kind: Fault, skip: u64) -> PlannedFault {
    lasting(kind).after(skip).times(1)
}

fn lasting(kind: Fault) -> PlannedFault {
    PlannedFault::new(500, SAFETY_MS - 500, kind)
}

fn cut(at_ms: u64) -> PlannedFault {
    PlannedFault::new(at_ms, 0, Fault::Disconnect)
}

/// Installs rules by which every list of the informer is empty.
fn lists_are_empty(rules: &Faults) -> Vec<RuleGuard> {
    let empty = faults::hook(|request| {
        (request.verb == "list" && request.client == "informer-0").then(|| {
            let revision = request.revision;
            let mut answer = Answer::new(
                StatusCode::OK,
                format!(
                    r#"{{"kind":"ConfigMapList","apiVersion":"v1","metadata":{{"resourceVersion":"{revision}"}},"items":[]}}"#
                ),
            );
            let json = HeaderValue::from_static("application/json");
            answer.headers.insert(header::CONTENT_TYPE, json);
            answer
        })
    });
    vec![rules.install(empty)]
}

/// Asserts that each of `checkers` has a finding in a run.
fn check(checkers: &[&str], outcome: &Outcome) {
    let violations = outcome.violations.iter();
    let found: BTreeSet<&str> = violations.map(|violation| violation.checker).collect();
    for checker in checkers {
        assert!(
            found.contains(checker),
            "{checker} found nothing, {found:?} did\n{}",
            outcome.trace
        );
    }
}

/// Asserts the same where faults break promises of the server: these findings are expected, and there are no others.
fn check_faults(checkers: &[&str], faults: &[PlannedFault]) {
    let outcome = sim::run(&plan(faults), &RunOptions::default());
    for violation in &outcome.violations {
        let is_of_server = OF_SERVER.contains(&violation.checker);
        assert_eq!(violation.is_expected(), is_of_server, "{violation}");
    }
    check(checkers, &outcome);
}

#[test]
fn without_a_control_nothing_is_found() {
    assert_eq!(sim::run(&plan(&[]), &RunOptions::default()).violations, []);
    assert_eq!(
        sim::run(&plan(&[cut(2_500)]), &RunOptions::default()).violations,
        []
    );
}

#[test]
fn reliable_an_event_is_left_out() {
    // The cache recovers, but not unnoticed.
    for skip in [0, 2] {
        check_faults(
            &["reliable", "silent_gaps"],
            &[once(Fault::DropEvent, skip)],
        );
    }
}

#[test]
fn convergence_the_last_event_is_left_out() {
    // The deletion: nothing repairs that.
    check_faults(
        &["convergence", "lost_deletes"],
        &[once(Fault::DropEvent, 4)],
    );
}

#[test]
fn ordered_an_event_comes_after_the_next() {
    for skip in [0, 2] {
        check_faults(&["ordered"], &[once(Fault::ReorderEvents, skip)]);
    }
}

#[test]
fn unique_an_event_comes_twice() {
    for skip in [0, 1, 4] {
        check_faults(&["unique"], &[once(Fault::DuplicateEvent, skip)]);
    }
}

#[test]
fn bookmarkable_a_bookmark_promises_what_was_not_sent() {
    check_faults(
        &["bookmarkable", "silent_gaps"],
        &[once(Fault::BookmarkAhead, 0)],
    );
    check_faults(
        &["bookmarkable", "convergence", "lost_deletes"],
        &[once(Fault::BookmarkAhead, 4)],
    );
}

#[test]
fn resumable_the_first_event_after_a_break_is_left_out() {
    check_faults(&["resumable"], &[cut(2_500), once(Fault::DropEvent, 3)]);
}

#[test]
fn snapshot_a_streamed_list_lacks_an_object() {
    let from_start = PlannedFault::new(0, SAFETY_MS, Fault::DropEvent).times(1);
    check_faults(&["list_snapshots"], &[from_start]);
}

#[test]
fn snapshot_a_list_lacks_an_object() {
    let mut plan = plan(&[]);
    plan.informers[0].streaming_lists = false;
    let options = RunOptions::default().with_server_variant(lists_are_empty);
    check(&["list_snapshots"], &sim::run(&plan, &options));
}

#[test]
fn liveness_a_client_asks_again_at_once_or_never() {
    let refused = Fault::ServerError(ServerError {
        code: 500,
        body: None,
    });
    let of = |bug, faults: &[PlannedFault]| hunt::run(&plan(faults), Bug::find(bug).unwrap());
    let hot = of("no-backoff", &[lasting(refused), cut(1_500)]);
    check(&["hot_loops"], &hot);
    let steady = of("flat-backoff", &[lasting(refused), cut(1_500)]);
    check(&["backoff"], &steady);
    let hanging = of("no-time-limits", &[lasting(Fault::Hang), cut(1_500)]);
    check(&["liveness"], &hanging);
}
