//! The table of bugs as a page.

use std::fmt::Write;

use super::Hunt;

/// What the page begins with.
const HEAD: &str = "\
# Mistakes on purpose

A harness that does not find these would not find them if somebody made them.
Each is done to the informer under test from outside, at the seam that is named; `informer` knows nothing of it.
The plans are those of the seeds from 0 on, drawn as any others; the last column says how many it took.
`conformance bugs --markdown conformance/docs/bugs.md` writes this page anew.

| bug | seam | what is done wrong | caught by | seeds |
|---|---|---|---|---:|
";

/// The table as Markdown.
pub fn page(hunts: &[Hunt]) -> String {
    let mut text = HEAD.to_owned();
    for hunt in hunts {
        let caught_by = match &hunt.catch {
            Some(caught) => caught
                .checkers
                .iter()
                .map(|checker| format!("`{checker}`"))
                .collect::<Vec<_>>()
                .join(", "),
            None => "nobody".to_owned(),
        };
        writeln!(
            text,
            "| `{}` | `{}` | {} | {caught_by} | {} |",
            hunt.bug.name,
            hunt.bug.seam().name(),
            hunt.bug.about,
            hunt.seed_count
        )
        .expect("a string takes what is written");
    }
    text
}
