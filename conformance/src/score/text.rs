//! The scoreboard for people and for programs.

use std::fmt::Write;

use comfy_table::{ContentArrangement, Table, presets};
use serde_json::json;

use super::{Cell, Scoreboard};
use crate::trace::seconds;

/// How wide the matrix is at most, in columns of a terminal.
const WIDTH: u16 = 100;
const WRITES: &str = "a string takes what is written";

// === impl Scoreboard ===

impl Scoreboard {
    /// The matrix, for a terminal, and below it what went wrong in each cell.
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

    /// The cells as JSON.
    pub fn to_json(&self) -> String {
        let board = json!({
            "good": self.is_good(),
            "counts": self.counts(),
            "cells": self.cells,
        });
        format!("{board:#}\n")
    }

    /// The matrix as a table of Markdown, in words alone: what changes with jitter is left out.
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

    /// The page that is kept in the repository.
    pub fn to_markdown(&self) -> String {
        let mut text = String::from(INTRODUCTION);
        text.push_str(&self.to_markdown_matrix());
        text.push_str(WORDS);
        text.push_str(
            "## What happens in each scenario\n\n| scenario | what happens | what is not asked of anybody |\n|---|---|---|\n",
        );
        for row in &self.scenarios {
            writeln!(text, "| `{}` | {} | {} |", row.name, row.about, row.excused).expect(WRITES);
        }
        self.write_times(&mut text);
        text.push_str("\n## What went wrong, and when\n\nTimes are simulated; a run is the same each time.\n\n");
        text.push_str("| scenario | contestant | what | seed, plan | at | seen |\n|---|---|---|---|---|---|\n");
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

    /// How soon everybody was as the server is, where that came to pass.
    fn write_times(&self, text: &mut String) {
        text.push_str("\n## How long it took\n\n");
        text.push_str("From the end of all faults to the moment in which every cache was equal to the server, in simulated seconds; the longest of the scenario's plans, or that of the plan that went wrong.\n");
        text.push_str("Where nothing was left to mend it takes 0.000 s, and - is for never.\n\n");
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
            cells.extend(self.row(row.name).map(shown));
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

fn shown(cell: &Cell) -> String {
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

What became of each contestant in each scenario, in process and on the paused clock.
This page is written by `cargo run --release -p conformance -- score --markdown conformance/docs/scoreboard.md`; a test compares its first table with a run.

`informer` streams its lists, `informer-paged` does not.
`kube-runtime` is `watcher` with `default_backoff` and a reflector's store, as its documentation shows it; the second one streams its lists, the third one is a shared store with a subscriber.
Subscribers of a shared store hear of no deletions, on purpose; that is not held against them.
A subscriber that looks for an object which is gone already is never woken again (`gone-before-read`); elsewhere objects are deleted slowly enough, so that each scenario shows its own fault.
`broken-deaf` and `broken-hasty` are `informer` with a mistake on purpose, as negative controls: one overlooks deletions that a watch brings, or as a controller takes a write that failed for done; the other never waits before it tries again.
What a list brings is told to handlers of `kube-runtime` when the list is complete.

";

const WORDS: &str = "
| word | what it means |
|---|---|
| ok | it converged, and every promise was kept |
| - | the scenario is about something that this contestant does not do |
| caught | a negative control, and a checker noticed it, as it has to |
| hung | a cache never became complete, or a client stopped listening |
| stale | a cache differs from the server at the end, and its client goes on as if all were well |
| undone | a controller did not bring about what it has to |
| hot loop | requests without a pause, or more of them than pauses that grow leave room for |
| impatient | a client asked again before the time until which the server had told it to wait, or did not wait longer from failure to failure |
| wasteful | a client asked for everything without a reason, or went on from where it had no reason to |
| lost delete | a handler never heard of the end of an object |
| deaf | a handler was never told of what is there |
| back in time | a cache or a handler saw an older state after a newer one |
| wrong news | a handler heard what was not so, or not of every change between two lists |
| wrong cache | a cache was not the state at its version, or an index differed |
| late | a change was told later than it may be |

";
