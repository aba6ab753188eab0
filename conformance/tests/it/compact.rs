//! A compact informer has the same traces as a typed one. That it keeps every promise is shown by seeds, which draw both.

use conformance::{
    plan::Profile,
    seed::Seed,
    sim::{self, Plan, RunOptions},
};
use regex::Regex;

/// Returns a plan whose informers are all compact, or all typed, and of a type that refuses nothing: a compact one would
/// refuse an object only when it is read.
fn plan(seed: u64, is_compact: bool) -> Plan {
    let mut plan = Plan::draw_sized(Seed::new(seed), Profile::Small);
    for informer in &mut plan.informers {
        informer.compact = is_compact;
        informer.selection.is_strict = false;
    }
    plan
}

/// Formats a trace without the type of objects, by which the log names a handler.
fn text(plan: &Plan) -> String {
    let compact = Regex::new(r"informer::compact::object::Compact<([\w:]+(?:<[\w:]+>)?)>").unwrap();
    let text = sim::run(plan, &RunOptions::default()).trace.to_string();
    compact.replace_all(&text, "$1").into_owned()
}

#[test]
fn compact_and_typed_informers_do_the_same_to_the_byte() {
    for seed in 0..50 {
        let compact = text(&plan(seed, true));
        let typed = text(&plan(seed, false));
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
