//! The requests that differ, for people and for programs.

use std::{collections::BTreeMap, fmt::Write};

use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};
use serde_json::{Value, json};

use crate::{
    corpus::{Case, Causes, Count, Tally},
    golden::{Difference, shown},
};

/// The width of tables: that of the narrowest usual terminal.
const WIDTH: u16 = 80;
/// The number of causes that are shown, of differences of one request, and the lengths of values.
const CAUSES_SHOWN: usize = 60;
const DIFFERENCES_SHOWN: usize = 8;
const VALUE_LENGTH_MAX: usize = 400;
const BODY_LENGTH_MAX: usize = 1_500;
const WRITES: &str = "a string takes what is written";

/// The outcome of the play of corpora against a server.
pub(super) struct Report {
    server: String,
    version: String,
    pub(super) tally: Tally,
    pub(super) causes: Causes,
    pub(super) mismatches: Vec<Mismatch>,
    pub(super) failed_set_up: Vec<String>,
}

/// A request that was answered differently.
pub(in crate::cli) struct Mismatch {
    /// The file and the line, or the number of the request.
    pub(in crate::cli) place: String,
    pub(in crate::cli) case: Case,
    pub(in crate::cli) differences: Vec<Difference>,
}

// === impl Report ===

impl Report {
    pub(super) fn new(server: String, version: String) -> Self {
        Self {
            server,
            version,
            tally: Tally::default(),
            causes: Causes::default(),
            mismatches: Vec::new(),
            failed_set_up: Vec::new(),
        }
    }

    /// Returns true if nothing differs.
    pub(super) fn is_good(&self) -> bool {
        self.tally.is_good() && self.failed_set_up.is_empty()
    }

    /// Formats the report as JSON.
    pub(super) fn to_json(&self) -> String {
        let counts = |counts: &BTreeMap<String, Count>| -> BTreeMap<String, Value> {
            let counts = counts.iter();
            counts
                .map(|(name, count)| (name.clone(), as_json(*count)))
                .collect()
        };
        let differ: Vec<Value> = self.mismatches.iter().map(Mismatch::as_json).collect();
        let report = json!({
            "good": self.is_good(),
            "server": self.server,
            "version": self.version,
            "all": as_json(self.tally.all),
            "categories": counts(&self.tally.categories),
            "kinds": counts(&self.tally.kinds),
            "failed_set_up": self.failed_set_up,
            "causes": causes_as_json(&self.causes),
            "differ": differ,
        });
        format!("{report:#}\n")
    }
}

// === impl Mismatch ===

impl Mismatch {
    pub(in crate::cli) fn as_json(&self) -> Value {
        let differences = self.differences.iter().map(|difference| {
            json!({
                "path": difference.path,
                "expected": difference.want,
                "got": difference.got,
            })
        });
        json!({
            "place": self.place,
            "kind": self.case.kind,
            "category": self.case.category,
            "note": self.case.note,
            "request": self.case.request.to_string(),
            "differences": differences.collect::<Vec<_>>(),
        })
    }
}

/// Formats a request that differs; `sides` are the names of the two answers.
pub(in crate::cli) fn mismatch(mismatch: &Mismatch, sides: [&str; 2]) -> String {
    let Mismatch {
        place,
        case,
        differences,
    } = mismatch;
    let mut text = format!("\n{place}: {} ({}", case.request, case.category);
    if !case.note.is_empty() {
        write!(text, ": {}", case.note).expect(WRITES);
    }
    text.push_str(")\n");
    for (name, value) in &case.request.headers {
        writeln!(text, "  {name}: {value}").expect(WRITES);
    }
    if let Some(body) = &case.request.body {
        writeln!(text, "  {}", cut(body.text(), BODY_LENGTH_MAX)).expect(WRITES);
    }
    let width = sides.iter().map(|side| side.len()).max().unwrap_or(0);
    for difference in differences.iter().take(DIFFERENCES_SHOWN) {
        writeln!(text, "  {}", difference.path).expect(WRITES);
        for (side, value) in sides.iter().zip([&difference.want, &difference.got]) {
            let value = shown(value.as_ref(), VALUE_LENGTH_MAX);
            writeln!(text, "    {side:width$} {value}").expect(WRITES);
        }
    }
    let more = differences.len().saturating_sub(DIFFERENCES_SHOWN);
    if more > 0 {
        writeln!(text, "  and {more} more").expect(WRITES);
    }
    text
}

/// Formats the causes in a table, the most frequent first.
pub(in crate::cli) fn causes(causes: &Causes) -> String {
    let causes = causes.by_frequency();
    if causes.is_empty() {
        return String::new();
    }
    let mut table = table(["requests", "kind", "status", "first path that differs"]);
    for (cause, places) in causes.iter().take(CAUSES_SHOWN) {
        table.add_row([
            right(places.len().to_string()),
            Cell::new(&cause.kind),
            Cell::new(format!("{} → {}", cause.want, cause.got)),
            Cell::new(&cause.path),
        ]);
    }
    let mut text = format!("\n{table}\n");
    let more = causes.len().saturating_sub(CAUSES_SHOWN);
    if more > 0 {
        writeln!(text, "and {more} more causes").expect(WRITES);
    }
    text
}

/// Formats the counts by category and by kind, the least equal first, and the total.
pub(super) fn totals(report: &Report) -> String {
    let tally = &report.tally;
    let mut text = counts("category", &tally.categories);
    text.push_str(&counts("kind", &tally.kinds));
    let Count { played, equal, .. } = tally.all;
    let (share, same) = (
        percent(equal, played),
        percent(tally.all.same_status, played),
    );
    writeln!(
        text,
        "{equal} of {played} answers equal ({share} %), {same} % of the status codes"
    )
    .expect(WRITES);
    text
}

fn counts(what: &str, counts: &BTreeMap<String, Count>) -> String {
    let mut counts: Vec<(&String, &Count)> = counts.iter().collect();
    counts.sort_by_key(|(_, count)| count.equal * 1_000_000 / count.played.max(1));
    let mut table = table([what, "requests", "equal", "equal %", "same status %"]);
    for (name, count) in counts {
        table.add_row([
            Cell::new(name),
            right(count.played.to_string()),
            right(count.equal.to_string()),
            right(percent(count.equal, count.played)),
            right(percent(count.same_status, count.played)),
        ]);
    }
    format!("\n{table}\n")
}

fn table<const N: usize>(header: [&str; N]) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::UTF8_FULL_CONDENSED)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(WIDTH)
        .set_header(header);
    table
}

fn right(text: String) -> Cell {
    Cell::new(text).set_alignment(CellAlignment::Right)
}

/// Formats a share in percent, rounded down to a tenth: 100 means all.
fn percent(part: usize, whole: usize) -> String {
    let tenths = (part * 1_000).checked_div(whole).unwrap_or(0);
    format!("{}.{}", tenths / 10, tenths % 10)
}

fn cut(text: &str, length_max: usize) -> String {
    match text.char_indices().nth(length_max) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn as_json(count: Count) -> Value {
    json!({"request_count": count.played, "equal_count": count.equal, "same_status_count": count.same_status})
}

pub(in crate::cli) fn causes_as_json(causes: &Causes) -> Value {
    let causes = causes.by_frequency().into_iter();
    let causes = causes.map(|(cause, places)| {
        json!({
            "kind": cause.kind,
            "expected_status": cause.want,
            "status": cause.got,
            "path": cause.path,
            "request_count": places.len(),
        })
    });
    causes.collect()
}
