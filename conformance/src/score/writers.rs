//! A scenario for each fault that only writers meet, or who asks what there is: controllers have to bring about what they
//! should all the same.

use fakeserver::faults::{CATALOGUE, CatalogueEntry, LostAs};

use super::{
    quirks,
    scenario::{Demand, Scenario, disconnect},
};
use crate::{
    plan::{Action, Fault, FaultKind, InformerPlan, Operation, Plan, Resource, Tier},
    seed::Seed,
};

/// The faults that are shown here.
pub(super) const FAULTS: &[&str] = &[
    "lost_answer",
    "conflict",
    "already_exists",
    "denied",
    "slow_webhook",
    "discovery_unavailable",
    "entity_too_large",
];

/// While the cluster changes.
const FROM_MS: u64 = 1_000;
const FOR_MS: u64 = 8_000;
const EXCUSED: &str = "what handlers hear: a controller may leave states out";

pub(super) fn scenarios() -> Vec<Scenario> {
    let shown = CATALOGUE
        .iter()
        .filter(|entry| FAULTS.contains(&entry.fault));
    let mut scenarios: Vec<Scenario> = shown.map(scenario).collect();
    let one_away = Scenario::new(
        "F36",
        "one-group-away",
        "one group's server is away for good, and a controller that has nothing to do with it begins",
        vec![config_maps(&[])],
    );
    scenarios.push(of_controllers(one_away).with_quirks(quirks::one_group_away));
    scenarios
}

fn scenario(entry: &CatalogueEntry) -> Scenario {
    let plans = kinds(entry.fault).into_iter().flat_map(plans).collect();
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

/// A fault in each of its forms.
fn kinds(fault: &str) -> Vec<FaultKind> {
    let named = FaultKind::named(fault).expect("the catalogue has the names of faults");
    match named {
        FaultKind::LostAnswer { .. } => [LostAs::Reset, LostAs::Timeout]
            .into_iter()
            .flat_map(|heard| [true, false].map(|applied| FaultKind::LostAnswer { heard, applied }))
            .collect(),
        FaultKind::Denied { .. } => [403, 422].map(|code| FaultKind::Denied { code }).to_vec(),
        FaultKind::SlowWebhook { takes_ms, .. } => [false, true]
            .map(|times_out| FaultKind::SlowWebhook {
                takes_ms,
                times_out,
            })
            .to_vec(),
        other => vec![other],
    }
}

/// Once, always, and from the start, with watches that are cut in between.
fn plans(kind: FaultKind) -> [Plan; 3] {
    let all = Fault::new(FROM_MS, FOR_MS, kind);
    let from_start = Fault::new(0, FROM_MS + FOR_MS, kind);
    [
        config_maps(&[all.clone().times(1)]),
        config_maps(&[all, disconnect(3_500)]),
        config_maps(&[from_start]),
    ]
}

/// A cluster in which a little of everything happens to config maps, all of which one controller follows.
fn config_maps(faults: &[Fault]) -> Plan {
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
