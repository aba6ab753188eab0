//! The acts of a plan, in order of time.

use std::time::Duration;

use super::Plan;
use crate::{
    participants::{self, PlanSection as _, informers},
    plan::IncidentKind,
};

/// The number of observations of caches during safety.
const OBSERVATION_COUNT: u64 = 25;
/// The shortest interval between them: in threads they take processor time from what they observe.
const OBSERVATION_INTERVAL_MIN_MS: u64 = 20;

/// One act of a run; numbers are places in the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Act {
    // At one moment they happen in this order: operations at 0 precede all observers.
    Operate(usize),
    CatchUp(usize),
    BeginFault(usize),
    BeginIncident(usize),
    OfInformers(informers::Act),
    EndFault(usize),
    EndIncident(usize),
    OfParticipant(participants::Act),
    Observe,
}

/// Returns the acts of a plan's safety phase.
pub(crate) fn schedule(plan: &Plan) -> Vec<(Duration, Act)> {
    let mut acts = Vec::new();
    for (place, operation) in plan.workload.iter().enumerate() {
        acts.push((operation.at_ms, Act::Operate(place)));
    }
    for (place, fault) in plan.faults.iter().enumerate() {
        acts.push((fault.at_ms, Act::BeginFault(place)));
        acts.push((fault.at_ms + fault.for_ms, Act::EndFault(place)));
    }
    for (place, incident) in plan.incidents.iter().enumerate() {
        let end_ms = incident.at_ms + incident.for_ms;
        acts.push((incident.at_ms, Act::BeginIncident(place)));
        acts.push((end_ms, Act::EndIncident(place)));
        if let IncidentKind::Replica { lag_ms, .. } = incident.kind {
            let hears = plan
                .workload
                .iter()
                .map(|operation| operation.at_ms + lag_ms);
            let hears = hears.filter(|at_ms| (incident.at_ms..=end_ms).contains(at_ms));
            acts.extend(hears.map(|at_ms| (at_ms, Act::CatchUp(place))));
        }
    }
    let of_informers = plan.informers.acts().into_iter();
    acts.extend(of_informers.map(|(at_ms, act)| (at_ms, Act::OfInformers(act))));
    let of_participants = plan.participants.acts().into_iter();
    acts.extend(of_participants.map(|(at_ms, act)| (at_ms, Act::OfParticipant(act))));
    let every_ms = (plan.safety_ms / OBSERVATION_COUNT).max(OBSERVATION_INTERVAL_MIN_MS);
    let observations =
        (every_ms..=plan.safety_ms).step_by(usize::try_from(every_ms).unwrap_or(usize::MAX));
    acts.extend(observations.map(|at_ms| (at_ms, Act::Observe)));
    // Acts after the end of safety do not happen.
    acts.retain(|(at_ms, _)| *at_ms <= plan.safety_ms);
    // The order of acts at one moment is that of the enum, and no draw depends on it.
    acts.sort();
    acts.dedup();
    acts.into_iter()
        .map(|(at_ms, act)| (Duration::from_millis(at_ms), act))
        .collect()
}
