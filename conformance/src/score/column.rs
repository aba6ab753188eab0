//! Recorded columns: verdicts on contestants that do not run wherever the page is written.

use serde::{Deserialize, Serialize};

use super::{Cell, Scoreboard};

/// The first field of a file that `score --record` has written.
const WRITER: &str = "conformance score --record";

/// A column of the scoreboard, recorded over TCP.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Column {
    /// The program that wrote it, which tells it from other files.
    recorded_by: String,
    /// The conditions under which it was recorded.
    #[serde(flatten)]
    pub circumstances: Conditions,
    /// The verdicts, in the order of the scenarios.
    pub cells: Vec<ColumnCell>,
}

/// The conditions under which a column was recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Conditions {
    /// The library, as its process names it.
    pub library: String,
    /// The version of the library.
    pub version: String,
    /// The promises that its process withholds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub withholds: Vec<String>,
    /// The day, as `2026-11-26`.
    pub date: String,
    /// The commit of the harness; it ends in `+` if the work tree had changes.
    pub commit: String,
    /// The factor by which scenarios were sped up.
    pub speed: u32,
    /// The time for convergence in seconds.
    pub converge_within: u64,
    /// The time that the column took, in seconds.
    pub took: u64,
}

/// The verdict on a column's contestant in one scenario.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ColumnCell {
    /// The scenario.
    pub scenario: String,
    /// The verdict in words, with its figures.
    pub verdict: String,
    /// The verdict without figures.
    pub word: String,
    /// The number of the scenario's plan, from 1.
    pub plan: usize,
    /// The time of the failure in milliseconds.
    pub at_ms: u64,
    /// The failure, in words; empty if there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
}

/// A file that holds no column.
#[derive(Debug, thiserror::Error)]
#[error("it is no column that `{WRITER}` has written")]
pub struct NotAColumn(#[source] Option<serde_json::Error>);

// === impl Column ===

impl Column {
    /// Makes a column of the board's cells of one contestant.
    pub fn of(board: &Scoreboard, contestant: &str, circumstances: Conditions) -> Self {
        let cells = board.cells.iter();
        let cells = cells.filter(|cell| cell.contestant == contestant);
        Self {
            recorded_by: WRITER.to_owned(),
            circumstances,
            cells: cells.map(ColumnCell::of).collect(),
        }
    }

    /// Reads a file's text.
    ///
    /// # Errors
    ///
    /// See [`NotAColumn`]. Trying again does not help.
    pub fn parse(text: &str) -> Result<Self, NotAColumn> {
        let column: Self = serde_json::from_str(text).map_err(|error| NotAColumn(Some(error)))?;
        if column.recorded_by == WRITER {
            Ok(column)
        } else {
            Err(NotAColumn(None))
        }
    }

    /// Formats it as a file.
    pub fn to_json(&self) -> String {
        let text = serde_json::to_string_pretty(self);
        format!("{}\n", text.expect("columns are plain values"))
    }

    /// Returns the cell of a scenario; `None` if that was left out.
    pub fn cell(&self, scenario: &str) -> Option<&ColumnCell> {
        self.cells.iter().find(|cell| cell.scenario == scenario)
    }
}

// === impl ColumnCell ===

impl ColumnCell {
    fn of(cell: &Cell) -> Self {
        Self {
            scenario: cell.scenario.to_owned(),
            verdict: cell.verdict.to_string(),
            word: cell.verdict.word().to_owned(),
            plan: cell.plan,
            at_ms: cell.at_ms,
            text: cell.text.clone(),
        }
    }
}
