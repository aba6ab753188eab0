//! Watches without a list: their plans, a hand-written trace with one violation each, and a seeded bug.

use std::time::Duration;

use super::{WatchPlan, WatcherEvent, WatcherPlan, revisions};
use crate::{
    bugs::Bug,
    participants::{
        InformerPlan,
        informers::checkers::{A, B, member},
    },
    plan::{Action, Operation, Profile, Resource, Selection, Tier},
    seed::Seed,
    sim::{self, Plan, RunOptions, shrink::Shrinker},
    trace::{Change, Observation, Side, Trace},
};

/// Checks a watch that begins after 2 and brings `changes`, then says that it has brought all up to `reached`. The log has A
/// created at 2, changed at 4 and deleted at 6, and B created at 5.
fn check(changes: &[(&'static str, &str, u64)], reached: u64, want: &[&str]) {
    let mut trace = Trace::new();
    let mut push = |event: WatcherEvent| trace.push(Duration::ZERO, event.into());
    push(WatcherEvent::Begins {
        watch: 0,
        selection: Selection::all(Resource::Pods),
        revision: 2,
    });
    for (kind, key, revision) in changes {
        push(WatcherEvent::Brings {
            watch: 0,
            kind,
            resource: Resource::Pods,
            member: member(key, if *key == A { "a" } else { "b" }, *revision),
        });
    }
    push(WatcherEvent::Reaches {
        watch: 0,
        revision: reached,
    });
    for (revision, key, is_there, stays) in [
        (2, A, false, true),
        (4, A, true, true),
        (5, B, false, true),
        (6, A, true, false),
    ] {
        let side = |is_there: bool| {
            is_there.then(|| Side {
                uid: if key == A { "a" } else { "b" }.into(),
                label: None,
                is_spoiled: false,
            })
        };
        let change = Change {
            resource: Resource::Pods,
            revision,
            key: key.into(),
            namespace: "one".into(),
            before: side(is_there),
            after: side(stays),
        };
        trace.push(Duration::ZERO, Observation::Changed(change));
    }
    let found = revisions::check(&trace);
    let found: Vec<&str> = found.iter().map(|finding| finding.text.as_str()).collect();
    assert_eq!(found, want, "{trace}");
}

#[test]
fn a_watch_that_brings_everything_in_order_is_good() {
    let all = [("MODIFIED", A, 4), ("ADDED", B, 5), ("DELETED", A, 6)];
    check(&all, 6, &[]);
    check(&all[..2], 5, &[]);
    check(&[], 3, &[]);
}

#[test]
fn missing_repeated_and_wrong_changes_are_found() {
    let left_out = ["watch 0: MODIFIED one/pod-0=a@4 was left out"];
    check(&[("ADDED", B, 5), ("DELETED", A, 6)], 6, &left_out);
    check(&[], 4, &left_out);
    check(
        &[("MODIFIED", A, 4), ("MODIFIED", A, 4)],
        4,
        &["watch 0: MODIFIED one/pod-0=a@4 comes after 4"],
    );
    check(
        &[("ADDED", A, 4)],
        4,
        &["watch 0: ADDED one/pod-0=a@4 is not in the server's log"],
    );
    check(
        &[("MODIFIED", A, 4), ("DELETED", A, 6)],
        6,
        &["watch 0: ADDED one/pod-1=b@5 was left out"],
    );
}

#[test]
fn a_quarter_of_the_plans_have_watches_and_they_shrink() {
    let plans: Vec<Plan> = (0..300).map(|seed| Plan::draw(Seed::new(seed))).collect();
    let with_watches = plans
        .iter()
        .filter(|plan| plan.participants.watcher.is_some());
    let count = with_watches.count();
    assert!((50..=100).contains(&count), "{count}");
    let brief = Plan::draw_sized(Seed::new(1), Profile::Brief);
    assert_eq!(brief.participants.watcher, None);
    let mut plan = Plan::empty(Seed::new(1));
    let mut watch = WatchPlan::of(Resource::Nodes);
    watch.behind = 40;
    watch.stop_ms = Some(4_000);
    watch.selection.label = Some("web".to_owned());
    let watches = vec![WatchPlan::of(Resource::Pods), watch];
    plan.participants.watcher = Some(WatcherPlan { watches });
    let fails = |plan: &Plan| {
        plan.participants.watcher.iter().any(|watcher| {
            let mut watches = watcher.watches.iter();
            watches.any(|watch| watch.selection.resource == Resource::Nodes)
        })
    };
    let mut shrinker = Shrinker::new(plan);
    while let Some(proposed) = shrinker.propose() {
        let still_fails = fails(proposed);
        shrinker.judge(still_fails);
    }
    let smallest = &shrinker.smallest().participants.watcher;
    assert_eq!(
        serde_json::to_string(smallest).unwrap(),
        r#"{"watches":[{"selection":{"resource":"nodes"},"start_ms":0}]}"#
    );
}

#[test]
fn a_watch_that_leaves_a_change_out_is_caught_in_a_run() {
    let mut plan = Plan::empty(Seed::new(1));
    plan.informers = vec![InformerPlan::of(Resource::Nodes)];
    let create =
        |at_ms, slot| Operation::new(at_ms, Resource::Pods, slot, Action::Create(Tier::Web));
    plan.workload = vec![create(2_000, 0), create(4_000, 1), create(6_000, 2)];
    let watches = vec![WatchPlan::of(Resource::Pods)];
    plan.participants.watcher = Some(WatcherPlan { watches });
    let checkers = |options: &RunOptions<'_>| {
        let outcome = sim::run(&plan, options);
        let violations = outcome.violations.iter();
        violations
            .map(|violation| violation.checker)
            .collect::<Vec<_>>()
    };
    assert_eq!(checkers(&RunOptions::default()), [""; 0]);
    let bug = Bug::find("watch-after-next").unwrap();
    let found = checkers(&RunOptions::default().with_bug(bug));
    assert_eq!(found, ["revisions"]);
}
