//! A compact informer keeps every promise, and has the same traces as the typed one.

use conformance::{
    plan::{Plan, Profile},
    seed::Seed,
    sim::{self, RunOptions},
    subjects::{Extras, SubjectKind, SubjectParts},
};
use regex::Regex;

fn run(plan: &Plan, kind: SubjectKind) -> sim::Outcome {
    let subject = |parts: SubjectParts<'_>| kind.build(parts, Extras::default());
    sim::run(plan, &RunOptions::default().with_subject(&subject))
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

/// Formats a trace without the type of objects, by which the log names a handler.
fn text(plan: &Plan, kind: SubjectKind) -> String {
    let compact = Regex::new(r"informer::compact::object::Compact<([\w:]+(?:<[\w:]+>)?)>").unwrap();
    let text = run(plan, kind).trace.to_string();
    compact.replace_all(&text, "$1").into_owned()
}

#[test]
fn compact_and_typed_informers_do_the_same_to_the_byte() {
    for seed in 0..20 {
        let plan = Plan::draw_sized(Seed::new(seed), Profile::Small);
        let compact = text(&plan, SubjectKind::InformerCompact);
        let typed = text(&plan, SubjectKind::Informer);
        let mut pairs = compact.lines().zip(typed.lines());
        let differing = pairs.find(|(compact, typed)| compact != typed);
        assert_eq!(differing, None, "seed {seed}");
        assert_eq!(
            compact.lines().count(),
            typed.lines().count(),
            "seed {seed}"
        );
    }
}
