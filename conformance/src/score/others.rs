//! The part of the page about clients in other languages, from recorded columns.

use std::{fmt::Write, time::Duration};

use super::{Column, Row};
use crate::trace::seconds;

const WRITES: &str = "a string takes what is written";

/// A recorded column with what people found out about it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RemarkedColumn {
    /// The column.
    pub column: Column,
    /// Remarks in Markdown; may be empty.
    pub remarks: String,
}

// === impl RemarkedColumn ===

impl RemarkedColumn {
    /// Adds remarks to a column.
    pub fn new(column: Column, remarks: impl Into<String>) -> Self {
        Self {
            column,
            remarks: remarks.into(),
        }
    }

    fn name(&self) -> &str {
        &self.column.circumstances.library
    }
}

/// Formats the section of the page about `columns`, with the rows that at least one of them has.
pub fn to_markdown(rows: &[Row], columns: &[RemarkedColumn]) -> String {
    let mut text = String::from(INTRODUCTION);
    for RemarkedColumn { column, .. } in columns {
        let it = &column.circumstances;
        let (withheld, took) = (it.withholds.join(", "), it.took);
        let (library, version, date, commit) = (&it.library, &it.version, &it.date, &it.commit);
        let (speed, limit) = (it.speed, it.converge_within);
        writeln!(
            text,
            "| {library} | {version} | {date} | {commit} | {speed} | {limit} s | {took} s | {withheld} |"
        )
        .expect(WRITES);
    }
    let names: Vec<&str> = columns.iter().map(RemarkedColumn::name).collect();
    writeln!(text, "\n| scenario | {} |", names.join(" | ")).expect(WRITES);
    writeln!(text, "|---{}|", "|---".repeat(names.len())).expect(WRITES);
    for row in rows {
        let cells: Vec<_> = columns
            .iter()
            .map(|of| of.column.cell(row.name).map(|cell| cell.word.as_str()))
            .collect();
        if cells.iter().any(Option::is_some) {
            let words: Vec<&str> = cells.into_iter().map(Option::unwrap_or_default).collect();
            let words = words.join(" | ");
            writeln!(text, "| `{}` ({}) | {words} |", row.name, row.origin).expect(WRITES);
        }
    }
    for of in columns.iter().filter(|of| !of.remarks.is_empty()) {
        write!(text, "\n### {}\n\n{}\n", of.name(), of.remarks.trim()).expect(WRITES);
    }
    write_failures(&mut text, columns);
    text
}

/// Writes the finding of each failed cell.
fn write_failures(text: &mut String, columns: &[RemarkedColumn]) {
    text.push_str(FAILURES);
    for of in columns {
        for cell in of.column.cells.iter().filter(|cell| !cell.text.is_empty()) {
            writeln!(
                text,
                "| `{}` | {} | {} | {} | {} s | {} |",
                cell.scenario,
                of.name(),
                cell.verdict,
                cell.plan,
                seconds(Duration::from_millis(cell.at_ms)),
                cell.text.replace('|', "\\|"),
            )
            .expect(WRITES);
        }
    }
}

const INTRODUCTION: &str = "
## Clients in other languages

Each ran as a [process under test](external.md), over TCP and in real time, and its column was recorded by `scripts/columns.sh`.
The figures of real time vary from run to run.
Scenarios that take longer than `converge within`, that no socket can show, or that are newer than all columns are left out.

| library | version | date | commit of the harness | speed | converge within | time taken | withheld promises |
|---|---|---|---|---|---|---|---|
";

const FAILURES: &str = "
### Failures of clients in other languages

| scenario | library | verdict | plan | at | finding |
|---|---|---|---|---|---|
";
