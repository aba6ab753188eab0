//! Plans of the conformance harness: as text, and as what happens.

use conformance::{
    plan::{Operation, PlannedFault, Profile},
    seed::Seed,
    sim::{self, Plan, RunOptions},
};

/// The most faults and operations of a plan: a run takes some hundredths of a second.
const ELEMENTS_MAX: usize = 24;

/// Checks that a plan that was read is written as one that reads as the same.
pub fn text(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let Ok(plan) = Plan::from_text(text) else {
        return;
    };
    let again = Plan::from_text(&plan.to_text()).expect("what is written can be read");
    assert_eq!(again, plan);
}

/// Runs a plan in which every promise must be kept. The first byte is a seed, which gives the informers; then seven bytes make a
/// fault or an operation: from which plan it is taken, and when and to whom it happens there instead.
pub fn run(data: &[u8]) {
    let Some((seed, rest)) = data.split_first() else {
        return;
    };
    let mut plan = drawn(*seed);
    plan.faults.clear();
    plan.workload.clear();
    for element in rest.as_chunks::<7>().0.iter().take(ELEMENTS_MAX) {
        let [choice, from, at, moment, length, whom, count] = *element;
        let model = drawn(from);
        let at_ms = plan.safety_ms * u64::from(moment) / 256;
        if choice.is_multiple_of(2) {
            let Some(fault) = at_place(&model.faults, at) else {
                continue;
            };
            let for_ms = plan.safety_ms * u64::from(length) / 512;
            let mut fault = PlannedFault::new(at_ms, for_ms, fault.kind);
            if usize::from(whom) < plan.informers.len() {
                fault = fault.for_informer(whom.into());
            }
            if count.is_multiple_of(3) {
                fault = fault.times(u64::from(count) / 16 + 1);
            }
            plan.faults.push(fault.after(u64::from(choice) / 64));
        } else if let Some(model) = at_place(&model.workload, at) {
            let operation = Operation::new(at_ms, model.resource, model.slot, model.action);
            plan.workload.push(operation);
        }
    }
    plan.faults.sort_by_key(|fault| fault.at_ms);
    plan.workload.sort_by_key(|operation| operation.at_ms);
    let outcome = sim::run(&plan, &RunOptions::default());
    let broken: Vec<String> = outcome.broken().map(ToString::to_string).collect();
    assert!(
        broken.is_empty(),
        "{broken:#?}\nof this plan:\n{}",
        plan.to_text()
    );
}

fn drawn(seed: u8) -> Plan {
    Plan::draw_sized(Seed::new(seed.into()), Profile::Small)
}

fn at_place<T>(items: &[T], at: u8) -> Option<&T> {
    items.get(usize::from(at) % items.len().max(1))
}
