//! The text forms of the scoreboard.

use std::fmt::Write;

use comfy_table::{ContentArrangement, Table, presets};

use super::{Cell, Scoreboard};
use crate::trace::seconds;

/// The maximal width of the matrix in a terminal, in columns.
const WIDTH: u16 = 100;
const WRITES: &str = "a string takes what is written";

// === impl Scoreboard ===

impl Scoreboard {
    /// Formats the matrix for a terminal, with the failure of each cell below it.
    pub fn to_text(&self) -> String {
        let mut text = format!("{}\n", self.matrix());
        for cell in self.cells.iter().filter(|cell| !cell.text.is_empty()) {
            writeln!(text, "{}", detail(cell)).expect(WRITES);
        }
        let wrong = self.cells.iter().filter(|cell| !cell.is_as_it_has_to_be);
        match wrong.count() {
            0 => text.push_str("every cell that has to hold holds\n"),
            1 => text.push_str("1 cell that has to hold does not\n"),
            count => writeln!(text, "{count} cells that have to hold do not").expect(WRITES),
        }
        text
    }

    /// Formats the matrix as a Markdown table, without figures that change with jitter.
    pub fn to_markdown_matrix(&self) -> String {
        let mut text = format!("| scenario | {} |\n", self.contestants.join(" | "));
        writeln!(text, "|---{}|", "|---".repeat(self.contestants.len())).expect(WRITES);
        for row in &self.scenarios {
            write!(text, "| `{}` ({})", row.name, row.origin).expect(WRITES);
            for cell in self.row(row.name) {
                write!(text, " | {}", cell.verdict.word()).expect(WRITES);
            }
            text.push_str(" |\n");
        }
        text
    }

    /// Formats the page in the repository.
    pub fn to_markdown(&self) -> String {
        let mut text = String::from(INTRODUCTION);
        text.push_str(&self.to_markdown_matrix());
        text.push_str(WORDS);
        text.push_str("## Scenarios\n\n| scenario | events | excused |\n|---|---|---|\n");
        for row in &self.scenarios {
            writeln!(text, "| `{}` | {} | {} |", row.name, row.about, row.excused).expect(WRITES);
        }
        self.write_times(&mut text);
        text.push_str("\n## Failures\n\nTimes are simulated; every run gives the same.\n\n");
        text.push_str("| scenario | contestant | verdict | seed, plan | at | finding |\n|---|---|---|---|---|---|\n");
        for cell in self.cells.iter().filter(|cell| !cell.text.is_empty()) {
            writeln!(
                text,
                "| `{}` | {} | {} | {}, {} | {} s | {} |",
                cell.scenario,
                cell.contestant,
                cell.verdict,
                cell.seed,
                cell.plan,
                seconds(cell.at()),
                cell.text.replace('|', "\\|"),
            )
            .expect(WRITES);
        }
        text
    }

    /// Writes the times of convergence, where there are any.
    fn write_times(&self, text: &mut String) {
        text.push_str("\n## Times of convergence\n\n");
        text.push_str("From the end of all faults until every cache was equal to the server, in simulated seconds: of the scenario's slowest plan, or of the failed one.\n");
        text.push_str(
            "0.000 s means that the caches were equal all the time, - that they never were.\n\n",
        );
        writeln!(text, "| scenario | {} |", self.contestants.join(" | ")).expect(WRITES);
        writeln!(text, "|---{}|", "|---".repeat(self.contestants.len())).expect(WRITES);
        for row in &self.scenarios {
            write!(text, "| `{}`", row.name).expect(WRITES);
            for cell in self.row(row.name) {
                let took = cell.took().map_or_else(|| "-".to_owned(), seconds);
                write!(text, " | {took}").expect(WRITES);
            }
            text.push_str(" |\n");
        }
    }

    fn matrix(&self) -> Table {
        let mut table = Table::new();
        // A column wraps at the hyphens of its name.
        let names = self.contestants.iter().map(|name| name.replace('-', "\n"));
        let header = std::iter::once("scenario".to_owned()).chain(names);
        table
            .load_style(presets::UTF8_FULL_CONDENSED)
            .set_content_arrangement(ContentArrangement::Dynamic)
            .set_width(WIDTH)
            .set_header(header);
        for row in &self.scenarios {
            let mut cells = vec![format!("{} ({})", row.name, row.origin)];
            cells.extend(self.row(row.name).map(cell_text));
            table.add_row(cells);
        }
        table
    }

    fn row(&self, scenario: &str) -> impl Iterator<Item = &Cell> {
        self.cells
            .iter()
            .filter(move |cell| cell.scenario == scenario)
    }
}

fn cell_text(cell: &Cell) -> String {
    if cell.is_as_it_has_to_be {
        cell.verdict.to_string()
    } else {
        format!("{} !", cell.verdict)
    }
}

fn detail(cell: &Cell) -> String {
    let Cell {
        scenario,
        contestant,
        verdict,
        seed,
        plan,
        text,
        ..
    } = cell;
    let at = seconds(cell.at());
    format!("{scenario}, {contestant}: {verdict}, seed {seed}, plan {plan}, at {at} s: {text}")
}

const INTRODUCTION: &str = "\
# Scoreboard

The verdict on each contestant in each scenario, in process and on the paused clock.
This page is written by `cargo run --release -p conformance -- score --force --columns conformance/data/columns --markdown conformance/docs/scoreboard.md`; a test compares its first table with a run.
[Clients in other languages](#clients-in-other-languages) follow at the end, from recorded columns.

`informer` streams its lists, `informer-paged` does not.
`kube-runtime` is `watcher` with `default_backoff` and a reflector's store, as its documentation shows it; the second one streams its lists, the third one is a shared store with a subscriber.
By design, subscribers of a shared store see no deletions; that does not count against them.
A subscriber that reads an object after its deletion is never woken again (`gone-before-read`); elsewhere deletions are slow, so that each scenario shows its own fault.
`broken-deaf` and `broken-hasty` are `informer` with a seeded bug, as negative controls: one ignores deletions in watches, or as a controller does not retry failed writes; the other retries without delay.
Handlers of `kube-runtime` are notified of a list's objects when the list is complete.

";

const WORDS: &str = "
| verdict | meaning |
|---|---|
| ok | it converged, and every promise was kept |
| - | no fault of the scenario concerns this contestant |
| caught | a negative control, and a checker noticed it |
| hung | a cache never became complete, or a client stopped listening |
| stale | a cache differs from the server at the end, and its client does not notice |
| undone | a controller did not reach its goal |
| hot loop | requests without a pause, or more than a growing backoff allows |
| impatient | a client did not wait as long as the server had demanded, or its backoff did not grow |
| wasteful | a client relisted without a reason, or resumed from a wrong version |
| lost delete | a handler was never notified of a deletion |
| deaf | a handler does not know of a present object |
| back in time | a cache or a handler saw an older state after a newer one |
| wrong news | a handler saw a wrong state, or not every state between two lists |
| wrong cache | a cache was not the state at its version, or an index differed |
| late | a notification came after its limit |

";
