//! Drawing, writing and shrinking of plans.

use fakeserver::faults::{ExpiredStatus, Fault, Latency, Throttle, ThrottleForm};
use proptest::{prelude::*, strategy::ValueTree};

use super::{Plan, shrink::Shrinker};
use crate::{
    participants::{
        Adapter, ControllerPlan, ElectionPlan, HandlerPlan, InformerPlan, PlannedEncoding,
        QueueAction, QueueOperation, QueueStop,
    },
    plan::{
        Action, IncidentKind, Operation, Operator, PlannedFault, Profile, Resource, Selection,
        Tier, drawn_faults::drawable,
    },
    seed::Seed,
};

#[test]
fn a_seed_always_gives_the_same_plan() {
    assert_eq!(Plan::draw(Seed::new(1)), Plan::draw(Seed::new(1)));
    assert_ne!(Plan::draw(Seed::new(1)), Plan::draw(Seed::new(2)));
}

fn drawn(profile: Profile) -> Vec<Plan> {
    (0..300)
        .map(|seed| Plan::draw_sized(Seed::new(seed), profile))
        .collect()
}

#[test]
fn drawn_plans_are_valid() {
    for profile in Profile::ALL {
        let plans = drawn(profile);
        assert!(plans.iter().step_by(20).all(|plan| plan.is_valid(profile)));
        for plan in plans {
            let valid = plan.clone().made_valid(profile).unwrap();
            assert_eq!(valid, plan, "{profile:?}");
        }
    }
}

#[test]
fn invalid_parts_of_plans_are_corrected() {
    let mut plan = Plan::draw_sized(Seed::new(1), Profile::Small);
    assert_eq!(Plan::empty(Seed::new(1)).made_valid(Profile::Small), None);
    plan.safety_ms = 8_000;
    plan.workload[0].at_ms = 9_000;
    plan.faults[0].informer = Some(7);
    plan.informers[0].handlers[0].join_ms = 500;
    plan.informers[0].handlers[0].leave_ms = Some(400);
    let controller = ControllerPlan {
        fail_every: Some(1),
        ..ControllerPlan::default()
    };
    plan.informers[0].controllers = vec![controller];
    plan.participants.election = Some(ElectionPlan {
        renew_ms: 1,
        lease_ms: 6_000,
        ..ElectionPlan::of(2)
    });
    assert!(!plan.is_valid(Profile::Small));
    let plan = plan.made_valid(Profile::Small).unwrap();
    assert!(plan.is_valid(Profile::Small));
    assert!(plan.workload.is_sorted_by_key(|operation| operation.at_ms));
    assert!(plan.faults.iter().all(|fault| fault.informer < Some(3)));
    assert_eq!(plan.informers[0].handlers[0].leave_ms, None);
    assert_eq!(plan.informers[0].controllers[0].retry_max_ms, 60_000);
    assert_eq!(
        plan.participants.election.map(|election| election.renew_ms),
        Some(4_000)
    );
}

#[test]
fn plans_differ_in_kind() {
    let plans = drawn(Profile::Medium);
    let mut kinds: Vec<&str> = plans
        .iter()
        .flat_map(|plan| plan.faults.iter().map(|fault| fault.kind.name()))
        .collect();
    kinds.sort_unstable();
    kinds.dedup();
    let mut drawable: Vec<&str> = drawable().into_iter().map(Fault::name).collect();
    drawable.sort_unstable();
    assert_eq!(kinds, drawable);
    assert!(plans.iter().any(|plan| plan.workload.len() < 20));
    assert!(plans.iter().any(|plan| plan.workload.len() > 80));
    let informers = || plans.iter().flat_map(|plan| &plan.informers);
    assert!(informers().any(|informer| informer.selection.label.is_some()));
    assert!(informers().any(|informer| informer.selection.namespace.is_some()));
    assert!(informers().any(|informer| informer.streaming_lists));
    assert!(informers().any(|informer| !informer.streaming_lists));
    assert!(informers().any(|informer| informer.queue_max == Some(1)));
    assert!(informers().any(|informer| informer.compact && informer.transforms));
    assert!(informers().any(|informer| !informer.compact && informer.transforms));
    assert!(informers().any(|informer| informer.selection.is_filtered));
    assert!(informers().any(|informer| informer.selection.is_strict));
    assert!(informers().any(|informer| informer.chunk_max_bytes.is_some()));
    for encoding in [
        PlannedEncoding::Json,
        PlannedEncoding::Protobuf,
        PlannedEncoding::Cbor,
    ] {
        assert!(informers().any(|informer| informer.encoding == encoding));
    }
    let elections = || {
        plans
            .iter()
            .filter_map(|plan| plan.participants.election.as_ref())
    };
    for is_coordinated in [false, true] {
        assert!(elections().any(|election| election.is_coordinated == is_coordinated));
    }
    for operator in Operator::ALL {
        assert!(informers().any(|informer| informer.selection.operator == operator));
    }
    assert!(informers().any(|informer| informer.index_edit_ms.is_some()));
    assert!(informers().any(|informer| informer.handlers.len() > 24));
    for adapter in [Adapter::Closures, Adapter::Filter] {
        let is_behind = |handler: &HandlerPlan| handler.adapter == Some(adapter);
        assert!(informers().any(|informer| informer.handlers.iter().any(is_behind)));
    }
    assert!(plans.iter().any(|plan| plan.list_gate == Some(1)));
    assert!(plans.iter().any(|plan| plan.interleaving.is_none()));
    assert!(plans.iter().any(|plan| plan.revision.is_none()));
    let begins_below = |limit: u64| {
        move |plan: &Plan| {
            plan.revision
                .is_some_and(|at| limit - 61 < at && at < limit)
        }
    };
    assert!(plans.iter().any(begins_below(100)));
    assert!(plans.iter().any(begins_below(1 << 53)));
    assert!(plans.iter().any(begins_below(10_u64.pow(18))));
    assert!(plans.iter().any(|plan| plan.interleaving.frames == 100));
    assert!(
        plans
            .iter()
            .all(|plan| plan.workload.is_sorted_by_key(|operation| operation.at_ms))
    );
}

#[test]
fn rare_mixes_happen() {
    let plans = drawn(Profile::Medium);
    let has = |plan: &Plan, wanted: fn(&Action) -> bool| {
        plan.workload
            .iter()
            .any(|operation| wanted(&operation.action))
    };
    let is_delete = |action: &Action| matches!(action, Action::Delete | Action::Recreate(_));
    // Whole runs without parts that others are full of.
    assert!(plans.iter().any(|plan| !has(plan, is_delete)));
    assert!(
        plans
            .iter()
            .any(|plan| !has(plan, |action| *action == Action::Update))
    );
    assert!(plans.iter().any(|plan| {
        let nodes = |operation: &Operation| operation.resource == Resource::Nodes;
        plan.workload.iter().all(nodes)
    }));
    assert!(plans.iter().any(|plan| {
        let first = plan.faults[0].kind.name();
        plan.faults.len() > 2 && plan.faults.iter().all(|fault| fault.kind.name() == first)
    }));
    // Runs in which everything happens within a moment.
    assert!(plans.iter().any(|plan| {
        let mut times: Vec<u64> = plan
            .workload
            .iter()
            .map(|operation| operation.at_ms)
            .collect();
        times.retain(|at_ms| *at_ms > 0);
        times.len() > 30 && times[times.len() - 1] - times[0] < 200
    }));
}

#[test]
fn a_third_of_the_plans_has_controllers_that_differ() {
    let plans = drawn(Profile::Small);
    let controllers = |plan: &Plan| -> Vec<ControllerPlan> {
        let informers = plan.informers.iter();
        informers
            .flat_map(|informer| informer.controllers.clone())
            .collect()
    };
    let count = plans
        .iter()
        .filter(|plan| !controllers(plan).is_empty())
        .count();
    assert!((80..130).contains(&count), "{count}");
    let all: Vec<ControllerPlan> = plans.iter().flat_map(controllers).collect();
    let stops = [
        QueueStop::Drain,
        QueueStop::ShutDown,
        QueueStop::Now,
        QueueStop::Abort,
    ];
    for stop in stops {
        assert!(all.iter().any(|controller| controller.stop == stop));
    }
    let is_any = |wanted: fn(&ControllerPlan) -> bool| all.iter().any(wanted);
    assert!(is_any(|controller| controller.worker_count.get() == 4));
    assert!(is_any(|controller| controller.fair_share.is_none()));
    assert!(is_any(|controller| controller.merges_delayed));
    assert!(is_any(|controller| controller.retries_max.is_some()));
    let is_sorted = |controller: &ControllerPlan| {
        let operations = &controller.operations;
        operations.is_sorted_by_key(|operation| operation.at_ms)
    };
    assert!(all.iter().all(is_sorted));
    let informers = plans.iter().flat_map(|plan| &plan.informers);
    let mut generations = informers.map(|informer| informer.controllers.as_slice());
    assert!(generations.any(|controllers| {
        match controllers {
            [first, second] => first
                .stop_ms
                .is_some_and(|stop_ms| stop_ms <= second.start_ms),
            _ => false,
        }
    }));
}

#[test]
fn a_profile_gives_the_size() {
    for plan in drawn(Profile::Small) {
        assert_eq!(plan.informers.len(), 2);
        assert_eq!(plan.workload.len(), 16);
        assert_eq!(plan.faults.len(), 3);
        let mut objects: Vec<_> = plan
            .workload
            .iter()
            .map(|operation| (operation.resource, operation.slot))
            .collect();
        objects.sort_unstable();
        objects.dedup();
        assert!(objects.len() <= 5, "{objects:?}");
    }
    let large = drawn(Profile::Large);
    assert!(
        large
            .iter()
            .all(|plan| (6..=12).contains(&plan.informers.len()))
    );
    assert!(large.iter().any(|plan| plan.workload.len() > 500));
}

#[test]
fn brief_plans_are_short_and_some_have_a_crowd() {
    let plans = drawn(Profile::Brief);
    assert!(plans.iter().all(|plan| plan.safety_ms <= 400));
    let begins_after = |plan: &Plan| plan.workload.iter().any(|operation| operation.at_ms > 400);
    assert!(!plans.iter().any(begins_after));
    let is_crowded = |plan: &&Plan| {
        let resource = plan.informers[0].selection.resource;
        let mut first = plan.workload.clone();
        first.retain(|operation| (operation.at_ms, operation.resource) == (0, resource));
        first.len() >= 80 && !plan.informers[0].streaming_lists
    };
    let crowded: Vec<&Plan> = plans.iter().filter(is_crowded).collect();
    assert!(crowded.len() > 100, "{}", crowded.len());
    let compact = |plan: &&&Plan| plan.informers[0].compact;
    assert!(crowded.iter().filter(compact).count() > 20);
    let several = |plan: &Plan| {
        plan.informers
            .iter()
            .any(|informer| informer.handlers.len() > 2)
    };
    assert!(plans.iter().filter(|plan| several(plan)).count() > 100);
    let incidents = || plans.iter().flat_map(|plan| &plan.incidents);
    assert!(incidents().any(|incident| incident.kind == IncidentKind::Restart));
    assert!(!incidents().any(|incident| incident.kind == IncidentKind::Suspend));
}

/// Returns the plan without the faults of this name.
fn without(plan: &Plan, name: &str) -> Plan {
    let mut plan = plan.clone();
    plan.faults.retain(|fault| fault.kind.name() != name);
    plan
}

#[test]
fn a_fault_that_is_left_out_changes_no_other_draw() {
    let all = drawable();
    for seed in (0..16).map(Seed::new) {
        for profile in Profile::ALL {
            let plan = Plan::draw_sized(seed, profile);
            for left_out in &all {
                let name = left_out.name();
                let rest: Vec<Fault> = all
                    .iter()
                    .copied()
                    .filter(|kind| kind != left_out)
                    .collect();
                let drawn = Plan::draw_among(seed, profile, &rest);
                let want = without(&plan, name);
                let is_known = |fault: &&PlannedFault| want.faults.contains(fault);
                let kept: Vec<&PlannedFault> = drawn.faults.iter().filter(is_known).collect();
                assert_eq!(
                    kept,
                    want.faults.iter().collect::<Vec<_>>(),
                    "{seed}: {name}"
                );
                assert_eq!(drawn.faults.len(), plan.faults.len(), "{seed}: {name}");
                let faults = want.faults.clone();
                assert_eq!(Plan { faults, ..drawn }, want, "{seed}: {name}");
            }
        }
    }
}

#[test]
fn the_order_of_the_list_of_faults_does_not_matter() {
    let mut reversed = drawable();
    reversed.reverse();
    for seed in (0..40).map(Seed::new) {
        let plan = Plan::draw_among(seed, Profile::Large, &reversed);
        assert_eq!(plan, Plan::draw_sized(seed, Profile::Large));
    }
}

#[test]
fn negative_controls_are_never_drawn() {
    for seed in 0..300 {
        let plan = Plan::draw(Seed::new(seed));
        let mut faults = plan.faults.iter();
        assert!(faults.all(|planned| planned.kind.entry().can_be_held()));
    }
}

#[test]
fn the_page_of_simulations_names_the_faults_that_are_not_drawn() {
    let page = include_str!("../../../docs/simulation.md");
    let drawable = drawable();
    let (all_count, drawn_count) = (Fault::all().count(), drawable.len());
    assert!(page.contains(&format!("Of the {all_count} faults in")));
    assert!(page.contains(&format!(") {drawn_count} are drawn")));
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    let mut named: Vec<&str> = rows
        .filter_map(|row| row.split('|').nth(1))
        .flat_map(|cell| cell.split('`').skip(1).step_by(2))
        .filter(|name| !name.starts_with("conformance "))
        .collect();
    named.sort_unstable();
    let mut left_out: Vec<&str> = Fault::all()
        .filter(|fault| !drawable.contains(fault))
        .map(Fault::name)
        .collect();
    left_out.sort_unstable();
    assert_eq!(named, left_out);
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
    plan.faults.push(PlannedFault::new(
        50,
        100,
        Fault::named("throttle").unwrap(),
    ));
    plan.faults
        .push(PlannedFault::new(60, 100, Fault::CleanEnd));
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
    {"at_ms":50,"for_ms":100,"kind":{"throttle":{"retryAfterSeconds":1}}},
    {"at_ms":60,"for_ms":100,"kind":"clean_end"}
  ]
}
"#
    );
}

#[test]
fn faults_are_read_in_their_older_forms_too() {
    let check = |kind: &str, want: Fault| {
        let text = format!(r#"{{"at_ms":0,"for_ms":1,"kind":{kind}}}"#);
        let fault: PlannedFault = serde_json::from_str(&text).unwrap();
        assert_eq!(fault, PlannedFault::new(0, 1, want), "{kind}");
    };
    let expired = Fault::ExpiredStatus(ExpiredStatus {
        replacement_token: true,
    });
    let late = Fault::Latency(Latency {
        request_ms: 500,
        frame_ms: 50,
        jitter_ms: 0,
    });
    let throttle = Fault::Throttle(Throttle {
        retry_after_seconds: 3,
        form: ThrottleForm::Text,
        ..Throttle::default()
    });
    check(r#""clean_end""#, Fault::CleanEnd);
    check(r#""clean-end""#, Fault::CleanEnd);
    check(r#""expired-status""#, expired);
    check(r#"{"latency":500}"#, late);
    check(r#"{"throttle":3}"#, throttle);
    check(r#"{"throttle":{"retryAfterSeconds":3}}"#, throttle);
    for kind in [r#""no-such""#, "3", "{}", r#"{"throttle":{"seconds":3}}"#] {
        let text = format!(r#"{{"at_ms":0,"for_ms":1,"kind":{kind}}}"#);
        assert!(
            serde_json::from_str::<PlannedFault>(&text).is_err(),
            "{kind}"
        );
    }
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
                plan.faults.iter().any(|fault| fault.kind == Fault::Disconnect && fault.at_ms >= from)
            };
            deleted.map(|deleted| deleted.at_ms).any(disconnected)
        };
        let mut plan = Plan::draw(Seed::new(seed));
        plan.workload.push(Operation::new(3, Resource::Nodes, 0, Action::Delete));
        plan.faults.push(PlannedFault::new(7, 1, Fault::Disconnect));
        let mut shrinker = Shrinker::new(plan);
        let mut proposal_count = 0;
        while let Some(proposed) = shrinker.propose() {
            proposal_count += 1;
            prop_assert!(proposal_count < 1_500);
            let still_fails = fails(proposed);
            shrinker.judge(still_fails);
        }
        let smallest = shrinker.smallest();
        prop_assert!(fails(smallest));
        prop_assert_eq!(smallest.workload.len(), 1);
        prop_assert_eq!(smallest.faults.len(), 1);
        prop_assert_eq!(smallest.informers.len(), 0);
        prop_assert!(smallest.interleaving.is_none());
        prop_assert_eq!(smallest.workload[0].slot, 0);
        // Both may happen at the beginning, in this order.
        prop_assert_eq!((smallest.workload[0].at_ms, smallest.faults[0].at_ms), (0, 0));
        prop_assert_eq!(smallest.safety_ms, 1);
    }
}

#[test]
fn as_a_strategy_it_shrinks_to_the_same() {
    let mut plan = Plan::draw(Seed::new(4));
    plan.workload
        .push(Operation::new(3, Resource::Nodes, 0, Action::Update));
    let mut tree = Shrinker::new(plan);
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
fn controllers_and_their_operations_are_removed_as_far_as_they_do_not_matter() {
    let operation = |at_ms, action| QueueOperation {
        at_ms,
        slot: 1,
        action,
    };
    let controller = ControllerPlan {
        start_ms: 2_000,
        reconcile_ms: 50,
        fail_every: Some(2),
        stop_ms: Some(9_000),
        stop: QueueStop::Abort,
        operations: vec![
            operation(3_000, QueueAction::AddAfter(100)),
            operation(4_000, QueueAction::CancelDelayed),
        ],
        ..ControllerPlan::default()
    };
    let mut plan = Plan::empty(Seed::new(1));
    let mut informer = InformerPlan::of(Resource::Pods);
    informer.controllers = vec![controller.clone(), controller];
    plan.informers = vec![informer];
    let fails = |plan: &Plan| {
        let informers = plan.informers.iter();
        let mut controllers = informers.flat_map(|informer| &informer.controllers);
        controllers.any(|controller| {
            let mut operations = controller.operations.iter();
            operations.any(|operation| operation.action == QueueAction::CancelDelayed)
        })
    };
    let mut shrinker = Shrinker::new(plan);
    while let Some(proposed) = shrinker.propose() {
        let still_fails = fails(proposed);
        shrinker.judge(still_fails);
    }
    let want = ControllerPlan {
        operations: vec![operation(0, QueueAction::CancelDelayed)],
        ..ControllerPlan::default()
    };
    assert_eq!(shrinker.smallest().informers[0].controllers, [want]);
}

#[test]
fn faults_follow_their_informer_when_another_goes() {
    let mut plan = Plan::empty(Seed::new(1));
    plan.informers = Resource::ALL.map(InformerPlan::of).to_vec();
    let fault = |informer| PlannedFault {
        informer,
        ..PlannedFault::new(0, 1, Fault::Hang)
    };
    plan.faults = vec![fault(Some(0)), fault(Some(1)), fault(Some(2)), fault(None)];
    super::shrink::take_informers(&mut plan, &(1..2));
    let left: Vec<Option<usize>> = plan.faults.iter().map(|fault| fault.informer).collect();
    assert_eq!(left, [Some(0), Some(1), None]);
}

#[test]
fn options_and_times_get_simpler_as_far_as_they_do_not_matter() {
    let mut plan = Plan::empty(Seed::new(1));
    plan.safety_ms = 90_000;
    let mut informer = InformerPlan::of(Resource::Pods);
    informer.selection.namespace = Some("one".to_owned());
    informer.selection.label = Some("web".to_owned());
    informer.page_size = 2;
    informer.handlers[0].resync_ms = Some(3_000);
    informer.handlers[0].leave_ms = Some(70_000);
    plan.informers = vec![informer];
    plan.workload = vec![
        Operation::new(0, Resource::Pods, 6, Action::Create(Tier::Web)),
        Operation::new(41_234, Resource::Pods, 6, Action::Delete),
    ];
    plan.faults = vec![PlannedFault::new(40_100, 80_000, Fault::Silence).after(4)];
    // The failure needs a selection by label, and half a minute between the two operations.
    let fails = |plan: &Plan| {
        let [first, second] = plan.workload.as_slice() else {
            return false;
        };
        let is_selected = |informer: &InformerPlan| informer.selection.label.is_some();
        second.at_ms - first.at_ms >= 900
            && plan.informers.iter().any(is_selected)
            && plan.faults.len() == 1
    };
    let mut shrinker = Shrinker::new(plan);
    while let Some(proposed) = shrinker.propose() {
        let still_fails = fails(proposed);
        shrinker.judge(still_fails);
    }
    assert_eq!(
        shrinker.smallest().to_text(),
        r#"{
  "seed": 1,
  "safety_ms": 1000,
  "informers": [
    {"selection":{"resource":"pods","label":"web"},"start_ms":0,"page_size":500,"streaming_lists":false,"watch_timeout_s":300,"handlers":[]}
  ],
  "workload": [
    {"at_ms":0,"resource":"pods","slot":0,"action":{"create":"web"}},
    {"at_ms":1000,"resource":"pods","slot":0,"action":"delete"}
  ],
  "faults": [
    {"at_ms":0,"for_ms":1000,"times":1,"kind":"silence"}
  ]
}
"#
    );
}

#[test]
fn handlers_of_brief_plans_block_and_removals_are_awaited_in_some() {
    let plans: Vec<Plan> = (0..60)
        .map(|seed| Plan::draw_sized(Seed::new(seed), Profile::Brief))
        .collect();
    let informers = plans.iter().flat_map(|plan| &plan.informers);
    let handlers: Vec<&HandlerPlan> = informers.flat_map(|informer| &informer.handlers).collect();
    let mut blocking = handlers.iter().filter(|handler| handler.block_ms.is_some());
    assert!(blocking.clone().count() > 20);
    assert!(blocking.all(|handler| handler.delay_ms.is_none() && !handler.is_stream));
    let leaving = || handlers.iter().filter(|handler| handler.leave_ms.is_some());
    assert!(leaving().any(|handler| handler.is_removal_awaited));
    assert!(leaving().any(|handler| !handler.is_removal_awaited));
    let mut awaited = handlers.iter().filter(|handler| handler.is_removal_awaited);
    assert!(awaited.all(|handler| handler.leave_ms.is_some()));
    let plan = Plan::draw_sized(Seed::new(1), Profile::Medium);
    let mut handlers = plan
        .informers
        .iter()
        .flat_map(|informer| &informer.handlers);
    assert!(handlers.all(|handler| handler.block_ms.is_none()));
}
