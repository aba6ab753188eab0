//! Drawing, writing and shrinking of plans.

use proptest::{prelude::*, strategy::ValueTree};

use super::{
    Action, Fault, FaultKind, InformerPlan, Operation, Plan, Resource, Selection, Tier,
    shrink::Shrinker,
};
use crate::seed::Seed;

#[test]
fn a_seed_always_gives_the_same_plan() {
    assert_eq!(Plan::draw(Seed::new(1)), Plan::draw(Seed::new(1)));
    assert_ne!(Plan::draw(Seed::new(1)), Plan::draw(Seed::new(2)));
}

#[test]
fn plans_differ_in_kind() {
    let plans: Vec<Plan> = (0..300).map(|seed| Plan::draw(Seed::new(seed))).collect();
    let mut kinds: Vec<&str> = plans
        .iter()
        .flat_map(|plan| plan.faults.iter().map(|fault| fault.kind.name()))
        .collect();
    kinds.sort_unstable();
    kinds.dedup();
    assert_eq!(kinds.len(), 15, "{kinds:?}");
    assert!(plans.iter().any(|plan| plan.workload.len() < 30));
    assert!(plans.iter().any(|plan| plan.workload.len() > 90));
    let informers = || plans.iter().flat_map(|plan| &plan.informers);
    assert!(informers().any(|informer| informer.selection.label.is_some()));
    assert!(informers().any(|informer| informer.selection.namespace.is_some()));
    assert!(informers().any(|informer| informer.streaming_lists));
    assert!(informers().any(|informer| !informer.streaming_lists));
    assert!(
        plans
            .iter()
            .all(|plan| plan.workload.is_sorted_by_key(|operation| operation.at_ms))
    );
}

#[test]
fn negative_controls_are_never_drawn() {
    let is_control = |kind: FaultKind| {
        matches!(
            kind.name(),
            "drop_event" | "duplicate_event" | "reorder_events" | "bookmark_ahead"
        )
    };
    for seed in 0..300 {
        let plan = Plan::draw(Seed::new(seed));
        assert!(!plan.faults.iter().any(|fault| is_control(fault.kind)));
    }
}

#[test]
fn the_text_form_is_read_by_people() {
    let mut plan = Plan::empty(Seed::new(9));
    plan.informers.push(InformerPlan {
        selection: Selection {
            label: Some("web".to_owned()),
            ..Selection::all(Resource::Nodes)
        },
        ..InformerPlan::of(Resource::Nodes)
    });
    plan.workload.push(Operation::new(
        0,
        Resource::Nodes,
        3,
        Action::Create(Tier::Web),
    ));
    plan.workload
        .push(Operation::new(70, Resource::Nodes, 3, Action::Delete));
    plan.faults
        .push(Fault::new(50, 100, FaultKind::Throttle(3)));
    assert_eq!(
        plan.to_text(),
        r#"{
  "seed": 9,
  "safety_ms": 10000,
  "informers": [
    {"selection":{"resource":"nodes","label":"web"},"start_ms":0,"page_size":500,"streaming_lists":true,"watch_timeout_s":300,"handlers":[{"join_ms":0}]}
  ],
  "workload": [
    {"at_ms":0,"resource":"nodes","slot":3,"action":{"create":"web"}},
    {"at_ms":70,"resource":"nodes","slot":3,"action":"delete"}
  ],
  "faults": [
    {"at_ms":50,"for_ms":100,"kind":{"throttle":3}}
  ]
}
"#
    );
}

#[test]
fn a_text_that_is_no_plan_is_refused() {
    let text = Plan::empty(Seed::new(9)).to_text();
    assert!(Plan::from_text(&text.replace("safety_ms", "safety")).is_err());
    assert!(Plan::from_text("").is_err());
}

proptest! {
    #[test]
    fn what_is_written_is_read(seed: u64) {
        let plan = Plan::draw(Seed::new(seed));
        prop_assert_eq!(Plan::from_text(&plan.to_text()).unwrap(), plan);
    }

    #[test]
    fn shrinking_finds_what_matters(seed: u64) {
        // "Fails" whenever there is a disconnect after a deletion of a node: two elements matter, all others do not.
        let fails = |plan: &Plan| {
            let deleted = plan.workload.iter().filter(|operation| {
                operation.resource == Resource::Nodes && operation.action == Action::Delete
            });
            let disconnected = |from| {
                plan.faults.iter().any(|fault| fault.kind == FaultKind::Disconnect && fault.at_ms >= from)
            };
            deleted.map(|deleted| deleted.at_ms).any(disconnected)
        };
        let mut plan = Plan::draw(Seed::new(seed));
        plan.workload.push(Operation::new(3, Resource::Nodes, 0, Action::Delete));
        plan.faults.push(Fault::new(7, 1, FaultKind::Disconnect));
        let mut shrinker = Shrinker::new(plan);
        let mut proposal_count = 0;
        while let Some(proposed) = shrinker.propose() {
            proposal_count += 1;
            prop_assert!(proposal_count < 1_000);
            let still_fails = fails(proposed);
            shrinker.judge(still_fails);
        }
        let smallest = shrinker.smallest();
        prop_assert!(fails(smallest));
        prop_assert_eq!(smallest.workload.len(), 1);
        prop_assert_eq!(smallest.faults.len(), 1);
        prop_assert_eq!(smallest.informers.len(), 0);
    }
}

#[test]
fn as_a_strategy_it_shrinks_to_the_same() {
    let mut tree = Shrinker::new(Plan::draw(Seed::new(4)));
    let fails = |plan: &Plan| {
        plan.workload
            .iter()
            .any(|operation| operation.action == Action::Update)
    };
    assert!(fails(&tree.current()));
    let mut goes_on = tree.simplify();
    while goes_on {
        goes_on = if fails(&tree.current()) {
            tree.simplify()
        } else {
            tree.complicate()
        };
    }
    assert_eq!(tree.current().workload.len(), 1);
    assert_eq!(tree.current().informers.len(), 0);
}

#[test]
fn faults_follow_their_informer_when_another_goes() {
    let mut plan = Plan::empty(Seed::new(1));
    plan.informers = Resource::ALL.map(InformerPlan::of).to_vec();
    let fault = |informer| Fault {
        informer,
        ..Fault::new(0, 1, FaultKind::Hang)
    };
    plan.faults = vec![fault(Some(0)), fault(Some(1)), fault(Some(2)), fault(None)];
    super::shrink::take_informers(&mut plan, 1, 2);
    let left: Vec<Option<usize>> = plan.faults.iter().map(|fault| fault.informer).collect();
    assert_eq!(left, [Some(0), Some(1), None]);
}
