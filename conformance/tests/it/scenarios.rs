//! One fault of each kind, alone: the informer recovers, with as many requests as necessary.
//!
//! An informer of pods, once with paged lists and once with streaming ones. A pod is created before it starts, another
//! at 2 s;
//! the first is changed at 4 s and deleted at 6 s. Each fault has one effect, between 1 s and 9 s.

use conformance::{
    participants::InformerPlan,
    plan::{Action, Operation, PlannedFault, Resource, Tier},
    seed::Seed,
    sim::{self, Plan, RunOptions},
    summary::Summary,
};
use fakeserver::faults::{ExpiredStatus, Fault, Latency, ServerError, Throttle, ThrottleForm};

/// The cost of recovery: lists, and requests of all kinds, beyond those of a run without faults.
#[derive(Debug, PartialEq, Eq)]
struct Cost {
    relists: u64,
    requests: u64,
}

fn cost(relists: u64, requests: u64) -> Cost {
    Cost { relists, requests }
}

fn once(kind: Fault) -> PlannedFault {
    PlannedFault::new(1_000, 8_000, kind).times(1)
}

fn from_the_start(kind: Fault) -> PlannedFault {
    PlannedFault::new(0, 9_000, kind).times(1)
}

fn disconnect(at_ms: u64) -> PlannedFault {
    PlannedFault::new(at_ms, 0, Fault::Disconnect)
}

fn plan(faults: &[PlannedFault], is_streaming: bool) -> Plan {
    let mut plan = Plan::empty(Seed::new(1));
    let mut informer = InformerPlan::of(Resource::Pods);
    informer.streaming_lists = is_streaming;
    plan.informers = vec![informer];
    let pods = |at_ms, slot, action| Operation::new(at_ms, Resource::Pods, slot, action);
    plan.workload = vec![
        pods(0, 0, Action::Create(Tier::Web)),
        pods(2_000, 1, Action::Create(Tier::Web)),
        // Of another resource, so that the server moves on while the watch of pods is idle.
        Operation::new(2_500, Resource::Nodes, 0, Action::Create(Tier::Web)),
        pods(4_000, 0, Action::Update),
        pods(6_000, 0, Action::Delete),
    ];
    plan.faults = faults.to_vec();
    plan
}

fn cost_of(faults: &[PlannedFault], is_streaming: bool) -> Cost {
    let plan = plan(faults, is_streaming);
    let outcome = sim::run(&plan, &RunOptions::default());
    let violations: Vec<String> = outcome.violations.iter().map(ToString::to_string).collect();
    assert!(violations.is_empty(), "{violations:#?}\n{}", outcome.trace);
    let summary = Summary::of(plan.seed, &outcome.trace);
    assert_eq!(
        summary.fault_count(),
        faults.len() as u64,
        "a fault had no effect\n{}",
        outcome.trace
    );
    let without = if is_streaming { 1 } else { 2 };
    cost(summary.relist_count, summary.request_count - without)
}

/// Checks the cost with paged lists and with streaming lists.
fn check(faults: &[PlannedFault], paged: &Cost, streaming: &Cost) {
    assert_eq!(
        (&cost_of(faults, false), &cost_of(faults, true)),
        (paged, streaming)
    );
}

#[test]
fn without_faults_there_is_one_list_and_one_watch() {
    check(&[], &cost(0, 0), &cost(0, 0));
}

#[test]
fn a_clean_end_costs_one_watch() {
    check(&[once(Fault::CleanEnd)], &cost(0, 1), &cost(0, 1));
}

#[test]
fn a_reset_in_mid_line_costs_one_watch() {
    check(&[once(Fault::ResetMidLine)], &cost(0, 1), &cost(0, 1));
}

#[test]
fn a_half_open_stream_costs_one_watch() {
    check(&[once(Fault::Silence)], &cost(0, 1), &cost(0, 1));
}

#[test]
fn a_cut_of_all_watches_costs_one_watch() {
    check(&[disconnect(1_500)], &cost(0, 1), &cost(0, 1));
}

#[test]
fn an_expired_event_costs_one_list() {
    check(&[once(Fault::ExpiredEvent)], &cost(1, 2), &cost(1, 1));
}

#[test]
fn an_expired_status_costs_one_list() {
    let faults = [
        once(Fault::ExpiredStatus(ExpiredStatus {
            replacement_token: true,
        })),
        disconnect(1_500),
    ];
    check(&faults, &cost(1, 3), &cost(1, 2));
}

#[test]
fn history_that_is_forgotten_costs_nothing_while_the_watch_is_open() {
    let forget = |kind| [PlannedFault::new(3_000, 0, kind)];
    check(&forget(Fault::Compact), &cost(0, 0), &cost(0, 0));
    check(&forget(Fault::Expire), &cost(0, 0), &cost(0, 0));
}

#[test]
fn history_that_is_forgotten_costs_one_list_when_the_watch_is_cut() {
    let faults = [
        PlannedFault::new(3_000, 0, Fault::Expire),
        disconnect(3_500),
    ];
    check(&faults, &cost(1, 3), &cost(1, 2));
}

#[test]
fn throttling_costs_one_watch_and_never_a_list() {
    let throttle = Fault::Throttle(Throttle {
        retry_after_seconds: 5,
        form: ThrottleForm::Text,
        ..Throttle::default()
    });
    let faults = [once(throttle), disconnect(1_500)];
    check(&faults, &cost(0, 2), &cost(0, 2));
}

#[test]
fn a_server_error_costs_one_watch_and_never_a_list() {
    for code in [500, 503] {
        let error = Fault::ServerError(ServerError { code, body: None });
        let faults = [once(error), disconnect(1_500)];
        check(&faults, &cost(0, 2), &cost(0, 2));
    }
}

#[test]
fn latency_costs_nothing() {
    let latency = Fault::Latency(Latency {
        request_ms: 3_000,
        frame_ms: 300,
        jitter_ms: 0,
    });
    let faults = [once(latency), disconnect(1_500)];
    check(&faults, &cost(0, 1), &cost(0, 1));
}

#[test]
fn headers_that_never_come_cost_one_watch() {
    let faults = [once(Fault::Hang), disconnect(1_500)];
    check(&faults, &cost(0, 2), &cost(0, 2));
}

#[test]
fn a_server_that_ignores_streaming_lists_is_asked_for_a_list() {
    check_streaming(Fault::WatchListIgnored, &cost(1, 2));
}

#[test]
fn a_server_that_rejects_streaming_lists_is_asked_for_a_list() {
    check_streaming(Fault::WatchListRejected, &cost(1, 2));
}

#[test]
fn a_streaming_list_that_ends_early_is_asked_for_again() {
    check_streaming(Fault::EndBeforeInitialEventsEnd, &cost(1, 1));
}

fn check_streaming(kind: Fault, want: &Cost) {
    assert_eq!(cost_of(&[from_the_start(kind)], true), *want);
}
