//! The differences, for people and for programs.

use std::fmt::Write;

use comfy_table::{Cell, CellAlignment, Table, presets};
use serde_json::{Value, json};

use crate::{
    call::whole,
    golden::{ControlError, Difference, Mismatch, PlayError, Transcript, Verdict, shown},
};

/// The number of differences that are shown of one step, and the length of a value.
const DIFFERENCES_SHOWN: usize = 6;
const VALUE_LENGTH_MAX: usize = 160;
/// The most telling parts of an answer; shown first, and alone if the status differs.
const TELLING: [&str; 4] = [".failed", ".status", ".body.reason", ".body.message"];

/// The transcripts that were played against a server.
pub(super) struct Report {
    server: String,
    version: String,
    entries: Vec<Entry>,
    /// The transcripts that need a server with other admission plugins.
    left_out: Vec<Transcript>,
}

/// A played transcript.
pub(super) struct Entry {
    verdict: Verdict,
    stopped: Option<PlayError>,
}

// === impl Report ===

impl Report {
    pub(super) fn new(server: String, version: String, left_out: Vec<Transcript>) -> Self {
        Self {
            server,
            version,
            entries: Vec::new(),
            left_out,
        }
    }

    pub(super) fn push(&mut self, entry: Entry) {
        self.entries.push(entry);
    }

    /// Returns true if nothing differs.
    pub(super) fn is_good(&self) -> bool {
        self.entries.iter().all(Entry::is_good)
    }

    fn sum(&self, count: impl Fn(&Verdict) -> usize) -> usize {
        self.entries.iter().map(|entry| count(&entry.verdict)).sum()
    }
}

// === impl Entry ===

impl Entry {
    pub(super) fn new(verdict: Verdict, stopped: Option<PlayError>) -> Self {
        Self { verdict, stopped }
    }

    /// Returns the reason why it was not played to its end, if it was not.
    pub(super) fn why_stopped(&self) -> Option<String> {
        self.stopped.as_ref().map(|stopped| whole(stopped))
    }

    /// Returns true if nothing differs. A control that the server lacks does not count; silence does.
    fn is_good(&self) -> bool {
        let is_excused = matches!(
            self.stopped,
            None | Some(PlayError::Control(ControlError::Unknown { .. }))
        );
        self.verdict.is_match() && is_excused
    }
}

/// Formats the differences of a transcript; empty if there are none.
pub(super) fn differences(entry: &Entry, is_full: bool) -> String {
    let mut text = String::new();
    let name = &entry.verdict.name;
    for mismatch in &entry.verdict.mismatches {
        let Mismatch { step, request, .. } = mismatch;
        write!(text, "\n{name}/{step}: {request}\n").expect(WRITES);
        let (listed, length) = if is_full {
            (mismatch.differences.iter().collect(), usize::MAX)
        } else {
            (telling(&mismatch.differences), VALUE_LENGTH_MAX)
        };
        for difference in &listed {
            let path = &difference.path;
            let want = shown(difference.want.as_ref(), length);
            let got = shown(difference.got.as_ref(), length);
            write!(text, "  {path}\n    expected {want}\n    got      {got}\n").expect(WRITES);
        }
        let more = mismatch.differences.len() - listed.len();
        if more > 0 {
            writeln!(text, "  and {more} more, which --full shows").expect(WRITES);
        }
    }
    if entry.verdict.was_seen_before() {
        let hint = "the server has seen this transcript before; it needs one that has not";
        write!(text, "\n{name}: {hint}\n").expect(WRITES);
    }
    if let Some(why) = entry.why_stopped() {
        let count = entry.verdict.not_played_count;
        write!(text, "\n{name}: {count} steps not played: {why}\n").expect(WRITES);
        if matches!(
            entry.stopped,
            Some(PlayError::Control(ControlError::Unknown { .. }))
        ) {
            writeln!(text, "  --control-command does it on other servers").expect(WRITES);
        }
    }
    text
}

/// Returns the differences that are worth reading first.
fn telling(differences: &[Difference]) -> Vec<&Difference> {
    let is_telling = |difference: &&Difference| TELLING.contains(&&*difference.path);
    let of_another_kind = differences
        .iter()
        .any(|difference| [".status", ".failed"].contains(&&*difference.path));
    if of_another_kind {
        let mut listed: Vec<&Difference> = differences.iter().filter(is_telling).collect();
        let rank =
            |difference: &&Difference| TELLING.iter().position(|path| *path == difference.path);
        listed.sort_by_key(rank);
        listed
    } else {
        differences.iter().take(DIFFERENCES_SHOWN).collect()
    }
}

/// Formats the transcripts in a table, and the total.
pub(super) fn totals(report: &Report) -> String {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED).set_header([
        "transcript",
        "steps",
        "equal",
        "differ",
        "not played",
    ]);
    let right = |count: usize| Cell::new(count).set_alignment(CellAlignment::Right);
    for Entry { verdict, .. } in &report.entries {
        table.add_row([
            Cell::new(&verdict.name),
            right(verdict.compared_count),
            right(verdict.matched_count),
            right(verdict.mismatches.len()),
            right(verdict.not_played_count),
        ]);
    }
    let equal = report.sum(|verdict| verdict.matched_count);
    let all = report.sum(|verdict| verdict.compared_count);
    let mut text = format!("\n{table}\n{equal} of {all} steps equal");
    let not_played = report.sum(|verdict| verdict.not_played_count);
    if not_played > 0 {
        write!(text, ", {not_played} not played").expect(WRITES);
    }
    text.push('\n');
    text.push_str(&left_out(report));
    text
}

/// Formats the transcripts that were left out; empty if there are none.
fn left_out(report: &Report) -> String {
    let mut text = String::new();
    let (plain, with_plugins): (Vec<_>, Vec<_>) = report
        .left_out
        .iter()
        .partition(|transcript| transcript.plugins.is_empty());
    for Transcript { name, plugins, .. } in with_plugins {
        let plugins = plugins.join(",");
        writeln!(
            text,
            "{name} left out: it needs a server with other admission plugins (--plugins {plugins})"
        )
        .expect(WRITES);
    }
    if !plain.is_empty() {
        let count = plain.len();
        writeln!(
            text,
            "{count} transcripts left out: they were recorded without these admission plugins"
        )
        .expect(WRITES);
    }
    text
}

/// Formats the report as JSON.
pub(super) fn json(report: &Report) -> String {
    let transcripts: Vec<Value> = report.entries.iter().map(entry_as_json).collect();
    let left_out = report.left_out.iter();
    let left_out: Vec<Value> = left_out
        .map(|transcript| json!({"name": transcript.name, "plugins": transcript.plugins}))
        .collect();
    let report = json!({
        "good": report.is_good(),
        "server": report.server,
        "version": report.version,
        "step_count": report.sum(|verdict| verdict.compared_count),
        "equal_count": report.sum(|verdict| verdict.matched_count),
        "differ_count": report.sum(|verdict| verdict.mismatches.len()),
        "not_played_count": report.sum(|verdict| verdict.not_played_count),
        "transcripts": transcripts,
        "left_out": left_out,
    });
    format!("{report:#}\n")
}

fn entry_as_json(entry: &Entry) -> Value {
    let verdict = &entry.verdict;
    let differ: Vec<Value> = verdict
        .mismatches
        .iter()
        .map(|mismatch| {
            let differences: Vec<Value> = mismatch
                .differences
                .iter()
                .map(|difference| {
                    json!({
                        "path": difference.path,
                        "expected": difference.want,
                        "got": difference.got,
                    })
                })
                .collect();
            json!({
                "step": mismatch.step,
                "request": mismatch.request,
                "differences": differences,
            })
        })
        .collect();
    json!({
        "name": verdict.name,
        "step_count": verdict.compared_count,
        "equal_count": verdict.matched_count,
        "not_played_count": verdict.not_played_count,
        "stopped": entry.why_stopped(),
        "differ": differ,
    })
}

const WRITES: &str = "a string takes what is written";
