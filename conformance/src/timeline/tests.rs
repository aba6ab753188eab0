//! The lines of a timeline.

use fakeserver::faults::Fault;

use super::timeline;
use crate::{
    plan::{Action, InformerPlan, Operation, Plan, PlannedFault, Resource, Tier},
    seed::Seed,
    sim::{self, RunOptions},
};

fn plan(faults: &[PlannedFault]) -> Plan {
    let mut plan = Plan::empty(Seed::new(1));
    let mut informer = InformerPlan::of(Resource::ConfigMaps);
    informer.streaming_lists = false;
    plan.informers = vec![informer];
    let maps = |at_ms, action| Operation::new(at_ms, Resource::ConfigMaps, 0, action);
    plan.workload = vec![
        maps(0, Action::Create(Tier::Web)),
        maps(2_000, Action::Update),
        maps(4_000, Action::Delete),
    ];
    plan.faults = faults.to_vec();
    plan
}

fn shown(plan: &Plan) -> String {
    let outcome = sim::run(plan, &RunOptions::default());
    timeline(&outcome.trace, &outcome.violations)
}

#[test]
fn a_good_run_is_told_without_a_mark() {
    let text = shown(&plan(&[]));
    insta::assert_snapshot!(text);
}

#[test]
fn the_first_broken_promise_is_marked_where_it_broke() {
    // The deletion is never sent.
    let dropped = PlannedFault::new(3_000, 7_000, Fault::DropEvent).times(1);
    let text = shown(&plan(&[dropped]));
    insta::assert_snapshot!(text);
    assert_eq!(text.matches("first broken:").count(), 1);
}

#[test]
fn what_only_the_end_shows_is_told_at_the_end() {
    let outcome = sim::run(&plan(&[]), &RunOptions::default());
    let violation = crate::checkers::Violation {
        checker: "convergence",
        finding: crate::checkers::Finding::whole("cache 0 lacks one/configmap-0"),
    };
    let text = timeline(&outcome.trace, &[violation]);
    let last = text.lines().last().unwrap();
    assert_eq!(
        last.trim_start(),
        ">>>  first broken: convergence: cache 0 lacks one/configmap-0"
    );
}
