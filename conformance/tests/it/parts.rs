//! The parts of an informer by themselves: a reflector and a delta FIFO mirror what drawn plans say.

use conformance::{
    participants::{Participants, subjects},
    plan::Profile,
    seed::Seed,
    sim::{self, Plan, RunOptions},
};

/// The number of plans.
const SEED_COUNT: u64 = 150;

#[test]
fn a_reflector_and_a_queue_keep_the_promises_of_mirrors() {
    for seed in (0..SEED_COUNT).map(Seed::new) {
        let mut plan = Plan::draw_sized(seed, Profile::Small);
        // It has no handlers, and everything else is none of its business.
        for informer in &mut plan.informers {
            informer.handlers.clear();
            informer.controllers.clear();
        }
        plan.participants = Participants::default();
        let options = RunOptions::default().with_subject(&subjects::queue_mirror);
        let outcome = sim::run(&plan, &options);
        let broken: Vec<_> = outcome.broken().map(ToString::to_string).collect();
        let seed = seed.get();
        assert!(broken.is_empty(), "small seed {seed}: {broken:#?}");
    }
}
