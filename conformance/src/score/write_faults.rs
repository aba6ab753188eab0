//! A scenario for each fault of writes and of discovery: controllers have to reach their goals all the same.

use fakeserver::faults::{Denied, Fault, LostAnswer, LostAnswerForm, SlowWebhook, Target};

use super::{
    scenario::{Demand, Scenario, disconnect},
    server_variants,
};
use crate::{
    participants::InformerPlan,
    plan::{Action, Operation, PlannedFault, Resource, Tier},
    seed::Seed,
    sim::Plan,
};

/// The time of changes of the cluster.
const FROM_MS: u64 = 1_000;
const FOR_MS: u64 = 8_000;
const EXCUSED: &str = "notifications: a controller may skip states";

pub(super) fn scenarios() -> Vec<Scenario> {
    let visible = Fault::all().filter(|fault| shows(*fault));
    let mut scenarios: Vec<Scenario> = visible.map(scenario).collect();
    let one_away = Scenario::new(
        "F36",
        "one-group-away",
        "one group's server is away for good, and a controller of other groups starts",
        vec![config_maps(&[])],
    );
    scenarios.push(of_controllers(one_away).with_server_variant(server_variants::one_group_away));
    scenarios
}

/// Returns true if the scenarios of this module show a fault: a client that only reads does not meet it.
pub(super) fn shows(fault: Fault) -> bool {
    matches!(fault.entry().target, Target::Writes | Target::Discovery)
}

fn scenario(fault: Fault) -> Scenario {
    let entry = fault.entry();
    let plans = kinds(fault).into_iter().flat_map(plans).collect();
    of_controllers(Scenario::new(
        entry.number,
        entry.fault,
        entry.models,
        plans,
    ))
}

fn of_controllers(scenario: Scenario) -> Scenario {
    scenario
        .with_copies()
        .demanding(Demand::HoldCache)
        .excusing(EXCUSED)
}

/// Returns the variants of a fault.
fn kinds(fault: Fault) -> Vec<Fault> {
    match fault {
        Fault::LostAnswer(_) => [LostAnswerForm::Reset, LostAnswerForm::Timeout]
            .into_iter()
            .flat_map(|form| {
                [true, false].map(|applied| Fault::LostAnswer(LostAnswer { form, applied }))
            })
            .collect(),
        Fault::Denied(_) => [403, 422]
            .map(|code| Fault::Denied(Denied { code }))
            .to_vec(),
        Fault::SlowWebhook(SlowWebhook { takes_ms, .. }) => [false, true]
            .map(|times_out| {
                Fault::SlowWebhook(SlowWebhook {
                    takes_ms,
                    times_out,
                })
            })
            .to_vec(),
        other => vec![other],
    }
}

/// Returns plans with the fault once, always, and from the start, with a cut of watches in between.
fn plans(kind: Fault) -> [Plan; 3] {
    let all = PlannedFault::new(FROM_MS, FOR_MS, kind);
    let from_start = PlannedFault::new(0, FROM_MS + FOR_MS, kind);
    [
        config_maps(&[all.clone().times(1)]),
        config_maps(&[all, disconnect(3_500)]),
        config_maps(&[from_start]),
    ]
}

/// Returns a plan with some of everything for config maps, all of which one controller follows.
fn config_maps(faults: &[PlannedFault]) -> Plan {
    let mut plan = Plan::empty(Seed::new(1));
    plan.informers = vec![InformerPlan::of(Resource::ConfigMaps)];
    let maps = |at_ms, slot, action| Operation::new(at_ms, Resource::ConfigMaps, slot, action);
    plan.workload = (0..4)
        .map(|slot| maps(0, slot, Action::Create(Tier::Web)))
        .collect();
    plan.workload.extend([
        maps(2_000, 4, Action::Create(Tier::Web)),
        maps(3_000, 0, Action::Update),
        maps(4_000, 1, Action::Relabel(Tier::Db)),
        maps(5_000, 2, Action::Recreate(Tier::Db)),
        maps(6_000, 3, Action::Delete),
        maps(7_000, 0, Action::Update),
        maps(8_000, 5, Action::Create(Tier::Web)),
        maps(8_500, 5, Action::Delete),
    ]);
    plan.faults = faults.to_vec();
    plan
}
