//! Incidents of machines: a lagging replica, restarts with and without the data, a sleeping machine. The informer
//! recovers.

use std::time::Duration;

use conformance::{
    participants::InformerPlan,
    plan::{Action, Incident, IncidentKind, Operation, Resource, Tier},
    seed::Seed,
    sim::{self, Outcome, Plan, RunOptions},
    trace::{Ending, NotifiedChange, Observation},
};

fn pods(at_ms: u64, slot: u8, action: Action) -> Operation {
    Operation::new(at_ms, Resource::Pods, slot, action)
}

fn run(workload: Vec<Operation>, incidents: Vec<Incident>) -> Outcome {
    let mut plan = Plan::empty(Seed::new(9));
    plan.safety_ms = 60_000;
    let mut informer = InformerPlan::of(Resource::Pods);
    informer.streaming_lists = false;
    plan.informers = vec![informer];
    plan.workload = workload;
    plan.incidents = incidents;
    let outcome = sim::run(&plan, &RunOptions::default());
    assert!(
        outcome.is_good(),
        "{:#?}\n{}",
        outcome.violations,
        outcome.trace
    );
    outcome
}

/// Returns the time of each event's frame, in milliseconds, and its revision.
fn frames(outcome: &Outcome) -> Vec<(u128, u64)> {
    let records = outcome.trace.records().iter();
    records
        .filter_map(|record| match &record.observation {
            Observation::Frame { member, .. } => {
                Some((record.at.as_millis(), member.state.revision))
            }
            _ => None,
        })
        .collect()
}

fn breaks(outcome: &Outcome) -> Vec<Duration> {
    let records = outcome.trace.records().iter();
    let broken = records.filter(|record| {
        let ending = Ending::Broken;
        matches!(&record.observation, Observation::Ended { ending: how, .. } if *how == ending)
    });
    broken.map(|record| record.at).collect()
}

#[test]
fn a_replica_reports_what_is_new_when_it_has_received_of_it() {
    let kind = IncidentKind::Replica {
        informer: Some(0),
        lag_ms: 3_000,
    };
    let workload = vec![
        pods(0, 0, Action::Create(Tier::Web)),
        pods(8_000, 1, Action::Create(Tier::Web)),
        pods(15_000, 0, Action::Delete),
        pods(40_000, 0, Action::Create(Tier::Web)),
    ];
    let outcome = run(workload, vec![Incident::new(9_000, 20_000, kind)]);
    let frames = frames(&outcome);
    // Before, 3 s late, and after it: no event comes twice, although the replica was behind the informer.
    let times: Vec<u128> = frames.iter().map(|(at_ms, _)| *at_ms).take(4).collect();
    assert_eq!(times, [8_000, 18_000, 18_000, 40_000], "{frames:?}");
    assert!(
        frames.is_sorted_by(|one, other| one.1 < other.1),
        "{frames:?}"
    );
    let seconds = |seconds| Duration::from_secs(seconds);
    assert_eq!(breaks(&outcome), [seconds(9), seconds(29)]);
}

#[test]
fn a_replica_that_is_asked_for_the_latest_catches_up_first() {
    let kind = IncidentKind::Replica {
        informer: None,
        lag_ms: 30_000,
    };
    let workload = vec![
        pods(0, 0, Action::Create(Tier::Web)),
        pods(1_000, 0, Action::Update),
    ];
    let mut plan = Plan::empty(Seed::new(9));
    plan.safety_ms = 20_000;
    // A streaming list without a version requests the most recent state.
    let mut informer = InformerPlan::of(Resource::Pods);
    informer.start_ms = 5_000;
    plan.informers = vec![informer];
    plan.workload = workload;
    plan.incidents = vec![Incident::new(2_000, 15_000, kind)];
    let outcome = sim::run(&plan, &RunOptions::default());
    assert!(outcome.is_good(), "{:#?}", outcome.violations);
    let ends = outcome.trace.records().iter().find_map(|record| {
        let Observation::Bookmark { revision, .. } = record.observation else {
            return None;
        };
        Some((record.at.as_secs(), revision))
    });
    let last = outcome.trace.observations().find_map(|observation| {
        let Observation::Operation { text, revision, .. } = observation else {
            return None;
        };
        text.ends_with("PUT").then_some(*revision)?
    });
    assert_eq!(ends, Some((5, last.unwrap())));
}

#[test]
fn a_restart_breaks_connections_refuses_new_ones_and_keeps_the_data() {
    let workload = vec![
        pods(0, 0, Action::Create(Tier::Web)),
        pods(12_000, 1, Action::Create(Tier::Web)),
        pods(20_000, 0, Action::Delete),
    ];
    let outcome = run(
        workload,
        vec![Incident::new(10_000, 5_000, IncidentKind::Restart)],
    );
    let broken = breaks(&outcome);
    assert!(broken.len() >= 3, "one stream, and attempts: {broken:?}");
    let (from, to) = (Duration::from_secs(10), Duration::from_secs(15));
    assert!(
        broken.iter().all(|at| (from..=to).contains(at)),
        "{broken:?}"
    );
    // Old objects are there, and events of the meantime arrive: the watch resumes, for nothing was lost.
    let frames = frames(&outcome);
    assert!(frames[0].0 > 15_000 && frames[1].0 == 20_000, "{frames:?}");
    let lists = outcome
        .trace
        .observations()
        .filter(|observation| matches!(observation, Observation::Page { .. }));
    assert_eq!(lists.count(), 1);
}

#[test]
fn a_server_without_its_data_is_listed_and_what_is_lost_is_reported() {
    let workload = vec![
        pods(0, 0, Action::Create(Tier::Web)),
        pods(1_000, 0, Action::Hold),
        pods(1_000, 1, Action::Create(Tier::Web)),
        pods(30_000, 1, Action::Create(Tier::Web)),
    ];
    let outcome = run(
        workload,
        vec![Incident::new(10_000, 5_000, IncidentKind::DataLoss)],
    );
    let notifications: Vec<String> = outcome
        .trace
        .observations()
        .filter_map(|observation| match observation {
            Observation::Notified(notified) => Some(&notified.change),
            _ => None,
        })
        .map(|change| match change {
            NotifiedChange::Added { .. } => "added".to_owned(),
            NotifiedChange::Updated { .. } => "updated".to_owned(),
            NotifiedChange::Deleted { is_tombstone, .. } => {
                format!("gone, found out: {is_tombstone}")
            }
        })
        .collect();
    let gone = "gone, found out: true";
    // The last one is written at the very end.
    let want = [
        "added", "updated", "added", gone, gone, "added", "added", "added",
    ];
    assert_eq!(notifications, want);
}

#[test]
fn a_machine_that_slept_does_at_once_what_was_due() {
    let workload = vec![
        pods(0, 0, Action::Create(Tier::Web)),
        pods(12_000, 1, Action::Create(Tier::Web)),
        pods(20_000, 0, Action::Delete),
    ];
    let asleep = Incident::new(10_000, 30_000, IncidentKind::Suspend);
    let outcome = run(workload, vec![asleep]);
    let times: Vec<u128> = frames(&outcome).iter().map(|(at_ms, _)| *at_ms).collect();
    assert_eq!(times[..2], [40_000, 40_000], "{times:?}");
    let records = outcome.trace.records().iter();
    let while_asleep = records.filter(|record| (10_001..40_000).contains(&record.at.as_millis()));
    assert_eq!(while_asleep.count(), 0);
}
