//! Each fault alone, at every occasion: informers keep every promise, and are up to date again within its bound.

use std::{collections::BTreeMap, time::Duration};

use conformance::{
    checkers::liveness::BOUNDS,
    plan::{Action, Fault, FaultKind, InformerPlan, Operation, Plan, Resource, Tier},
    seed::Seed,
    sim,
    trace::{Observation, Phase},
};
use fakeserver::faults::CATALOGUE;

/// How long a client may take where nothing is wrong.
const AT_ONCE: Duration = Duration::from_secs(1);
const SAFETY_MS: u64 = 90_000;
/// The seeds decide about jitter.
const SEEDS: std::ops::Range<u64> = 0..3;

/// Three informers, objects that are changed now and then, and the fault from the beginning, or a little later, to the end.
fn plan(kind: FaultKind, seed: u64) -> Plan {
    let mut plan = Plan::empty(Seed::new(seed));
    plan.safety_ms = SAFETY_MS;
    plan.informers = Resource::ALL.map(InformerPlan::of).to_vec();
    plan.workload = Resource::ALL
        .map(|resource| Operation::new(0, resource, 0, Action::Create(Tier::Web)))
        .to_vec();
    for at_ms in (1_000..SAFETY_MS).step_by(7_000) {
        let changes =
            Resource::ALL.map(|resource| Operation::new(at_ms, resource, 0, Action::Update));
        plan.workload.extend(changes);
    }
    let at_ms = seed * 2_500;
    plan.faults = vec![Fault::new(at_ms, SAFETY_MS - at_ms, kind)];
    plan
}

/// What this is about: that caches get there, in time, and without asking all the time.
const CHECKERS: [&str; 4] = ["liveness", "convergence", "hot_loops", "bounded_requests"];

/// How long the caches took once the fault had ended, and what was not as it should be.
fn convergence(plan: &Plan) -> (Duration, Vec<String>) {
    let outcome = sim::run(plan);
    let broken = outcome
        .broken()
        .filter(|violation| CHECKERS.contains(&violation.checker));
    let broken = broken.map(|violation| format!("{:?}: {violation}", plan.faults[0].kind));
    let reached = |wanted: &[Phase]| {
        let mut records = outcome.trace.records().iter();
        let record = records.find(
            |record| matches!(record.observation, Observation::Phase(phase) if wanted.contains(&phase)),
        );
        record.unwrap().at
    };
    let took = reached(&[Phase::Converged, Phase::GivenUp]);
    let took = took.saturating_sub(reached(&[Phase::Recovery]));
    (took, broken.collect())
}

#[test]
fn each_fault_alone_is_felt_no_longer_than_its_bound() {
    // A server that goes back and then passes where it was cannot be told from one that did not: this workload does that.
    let held = CATALOGUE
        .iter()
        .filter(|entry| entry.can_be_held && entry.fault != "rollback");
    let (mut slowest, mut broken) = (BTreeMap::new(), Vec::new());
    for entry in held {
        let kind = FaultKind::named(entry.fault).unwrap();
        let bound = BOUNDS.iter().find(|(name, _)| *name == entry.fault);
        let bound = bound.unwrap().1 + AT_ONCE;
        for seed in SEEDS {
            let (took, wrong) = convergence(&plan(kind, seed));
            broken.extend(wrong);
            if took > bound {
                broken.push(format!(
                    "{} is felt for {took:?}, not {bound:?}",
                    entry.fault
                ));
            }
            let slowest = slowest.entry(entry.fault).or_insert(took);
            *slowest = took.max(*slowest);
        }
    }
    assert!(broken.is_empty(), "{broken:#?}\n{slowest:#?}");
    // Some are felt: the faults were there.
    for fault in ["server_error", "silence", "hang", "forbidden"] {
        assert!(slowest[fault] > AT_ONCE, "{fault}: {slowest:#?}");
    }
}
