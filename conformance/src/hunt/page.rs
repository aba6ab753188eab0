//! The table of bugs as a Markdown page.

use std::fmt::Write;

use super::Hunt;

/// The beginning of the page.
const HEAD: &str = "\
# Seeded bugs

They show that the checkers find real bugs.
Each sits outside of the informer under test, at the seam in the table; `informer` itself has no part in it.
The plans are those of the seeds from 0 on; the last column is the number of seeds that it took.
`conformance bugs --force --markdown conformance/docs/bugs.md` writes this page.

| bug | seam | deviation | caught by | seeds |
|---|---|---|---|---:|
";

/// Formats hunts as a Markdown page.
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
            None => "none".to_owned(),
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
