use std::collections::BTreeSet;

use super::{Transition, count, known};
use crate::{
    plan::Profile,
    seed::Seed,
    sim::{self, Plan, RunOptions},
};

#[test]
fn seeds_make_no_transition_that_is_not_known() {
    let known: BTreeSet<Transition> = known().collect();
    let mut strange = BTreeSet::new();
    for seed in 0..100 {
        let plan = Plan::draw_sized(Seed::new(seed), Profile::Small);
        let outcome = sim::run(&plan, &RunOptions::default());
        let made = count(&outcome.trace)
            .into_iter()
            .filter(|(_, count)| *count > 0);
        strange.extend(
            made.map(|(made, _)| made)
                .filter(|made| !known.contains(made)),
        );
    }
    let strange: Vec<String> = strange.iter().map(ToString::to_string).collect();
    assert_eq!(strange, [""; 0]);
}
