//! Lists in pages: what happens between any two of them.

use conformance::{
    participants::{HandlerPlan, InformerPlan},
    plan::{Action, Operation, PlannedFault, Resource, Tier},
    seed::Seed,
    sim::{self, Plan, RunOptions},
};
use fakeserver::faults::{Fault, Latency};

/// The number of objects at first.
const OBJECT_COUNT: u8 = 5;
/// The number of moments: before, between and after pages of one object.
const PAGE_COUNT: u64 = OBJECT_COUNT as u64 + 1;
/// The time at which the informer has to list again.
const RELIST_MS: u64 = 1_000;
/// The time at which the seed lets it ask for the first page, or a little before that.
const PAGES_MS: u64 = 3_900;
/// The time from page to page.
const PAGE_MS: u64 = 100;

/// Returns the plan of a list whose pages of `page_size` objects arrive one after the other, with a handler from the start and
/// one that joins while pages arrive.
fn paged(page_size: u32) -> Plan {
    let mut plan = Plan::empty(Seed::new(7));
    let mut informer = InformerPlan::of(Resource::Pods);
    informer.streaming_lists = false;
    informer.page_size = page_size;
    let mut late = HandlerPlan::default();
    late.join_ms = PAGES_MS + 2 * PAGE_MS + PAGE_MS / 2;
    informer.handlers.push(late);
    plan.informers = vec![informer];
    plan.workload = (0..OBJECT_COUNT)
        .map(|slot| pod(0, slot, Action::Create(Tier::Web)))
        .collect();
    // The server moves on while the watch of pods is idle, so that its version can expire.
    let node = Operation::new(RELIST_MS / 2, Resource::Nodes, 0, Action::Create(Tier::Web));
    plan.workload.push(node);
    let latency = Latency {
        request_ms: PAGE_MS,
        ..Latency::default()
    };
    // The first list is one of any state, which comes whole.
    plan.faults = vec![
        PlannedFault::new(0, 5_000, Fault::Latency(latency)),
        PlannedFault::new(RELIST_MS, 0, Fault::Expire),
        PlannedFault::new(RELIST_MS, 0, Fault::Disconnect),
    ];
    plan
}

fn pod(at_ms: u64, slot: u8, action: Action) -> Operation {
    Operation::new(at_ms, Resource::Pods, slot, action)
}

/// Runs a plan, and returns the number of requests that were refused since their versions had expired.
fn check(plan: &Plan) -> usize {
    let outcome = sim::run(plan, &RunOptions::default());
    let broken: Vec<String> = outcome.broken().map(ToString::to_string).collect();
    assert!(broken.is_empty(), "{broken:#?}\n{}", outcome.trace);
    let text = outcome.trace.to_string();
    text.lines().filter(|line| line.contains(": 410")).count()
}

#[test]
fn any_object_may_come_or_go_between_any_two_pages() {
    for page_size in [1, 2] {
        for page in 0..=PAGE_COUNT {
            for slot in 0..=OBJECT_COUNT {
                let mut plan = paged(page_size);
                let action = if slot == OBJECT_COUNT {
                    Action::Create(Tier::Web)
                } else {
                    Action::Delete
                };
                let at_ms = PAGES_MS + page * PAGE_MS + PAGE_MS / 2;
                plan.workload.push(pod(at_ms, slot, action));
                check(&plan);
            }
        }
    }
}

#[test]
fn a_list_may_expire_between_any_two_pages() {
    let undisturbed = check(&paged(1));
    let mut expired_count = 0;
    for page in 0..=PAGE_COUNT {
        let mut plan = paged(1);
        let at_ms = PAGES_MS + page * PAGE_MS + PAGE_MS / 2;
        // The history before it is gone, and with it the state that the pages are of.
        plan.workload.push(pod(at_ms, 0, Action::Delete));
        plan.workload.push(pod(at_ms, 4, Action::Update));
        plan.faults
            .push(PlannedFault::new(at_ms, 0, Fault::Compact));
        expired_count += check(&plan) - undisturbed;
    }
    // After each page but the last, and once only.
    assert_eq!(expired_count, usize::from(OBJECT_COUNT) - 1);
}
