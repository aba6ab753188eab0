//! An informer that holds its objects as compressed bytes keeps every promise, and does as the typed one does.

use conformance::{
    plan::{Plan, Profile},
    seed::Seed,
    sim,
    subjects::{Extras, SubjectKind, SubjectParts},
};

fn run(plan: &Plan, kind: SubjectKind) -> sim::Outcome {
    sim::run_with(plan, &|parts: SubjectParts<'_>| {
        kind.build(parts, Extras::default())
    })
}

#[test]
fn compact_informers_keep_every_promise() {
    for seed in 0..60 {
        let plan = Plan::draw_sized(Seed::new(seed), Profile::Medium);
        let outcome = run(&plan, SubjectKind::InformerCompact);
        let broken: Vec<_> = outcome.broken().collect();
        assert!(broken.is_empty(), "seed {seed}: {broken:?}");
    }
}

#[test]
fn compact_and_typed_informers_do_the_same_to_the_byte() {
    for seed in 0..20 {
        let plan = Plan::draw_sized(Seed::new(seed), Profile::Small);
        let compact = run(&plan, SubjectKind::InformerCompact);
        assert_eq!(compact, run(&plan, SubjectKind::Informer), "seed {seed}");
    }
}
