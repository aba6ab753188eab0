//! The report of `score`.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use support::partition::Stamp;

use super::merge::interleaved;
use crate::{
    score::{self, Cell, Contestant, Scenario, Scoreboard, Verdict},
    seed::Seed,
};

/// The cells of a scoreboard.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ScoreReport {
    /// The campaign and the partition.
    pub campaign: Stamp,
    /// True if every cell that has to hold does.
    pub good: bool,
    /// The number of cells of each verdict.
    pub counts: BTreeMap<String, usize>,
    /// The cells, scenario by scenario.
    pub cells: Vec<ScoreCell>,
}

/// The verdict on one contestant in one scenario; see [`Cell`] for its fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the fields are those of `Cell`")]
pub struct ScoreCell {
    pub scenario: String,
    pub contestant: String,
    #[serde(flatten)]
    pub verdict: Verdict,
    pub is_as_it_has_to_be: bool,
    pub seed: Seed,
    pub plan: usize,
    pub at_ms: u64,
    pub took_ms: Option<u64>,
    pub text: String,
}

// === impl ScoreReport ===

impl ScoreReport {
    /// Creates the report of a board.
    pub fn of(campaign: Stamp, board: &Scoreboard) -> Self {
        let counts = board.counts().into_iter();
        Self {
            campaign,
            good: board.is_good(),
            counts: counts
                .map(|(word, count)| (word.to_owned(), count))
                .collect(),
            cells: board.cells.iter().map(ScoreCell::of).collect(),
        }
    }

    /// Returns the board.
    ///
    /// # Errors
    ///
    /// A scenario or a contestant is unknown: it is of another version.
    pub fn board(&self) -> Result<Scoreboard, String> {
        let all = score::scenarios();
        let scenario = |name: &str| {
            let found = all.iter().find(|scenario| scenario.name == name);
            found.ok_or_else(|| format!("no scenario is called {name}"))
        };
        let contestant = |name: &str| {
            Contestant::named(name).ok_or_else(|| format!("no contestant is called {name}"))
        };
        let names = |name: fn(&ScoreCell) -> &str| {
            let mut seen = BTreeSet::new();
            let names = self.cells.iter().map(name);
            names.filter(|name| seen.insert(*name)).collect::<Vec<_>>()
        };
        let scenarios = names(|cell| &cell.scenario).into_iter();
        let scenarios = scenarios.map(|name| scenario(name).cloned());
        let contestants = names(|cell| &cell.contestant).into_iter().map(contestant);
        let scenarios: Vec<Scenario> = scenarios.collect::<Result<_, _>>()?;
        let contestants: Vec<Contestant> = contestants.collect::<Result<_, _>>()?;
        let mut board = Scoreboard::new(&scenarios, &contestants);
        for cell in &self.cells {
            let names = (
                scenario(&cell.scenario)?.name,
                contestant(&cell.contestant)?.name,
            );
            board.cells.push(cell.named(names));
        }
        Ok(board)
    }

    /// Merges the reports of partitions, which have scenarios of their own; `None` if there are none.
    pub(super) fn merged(reports: Vec<Self>) -> Option<Self> {
        let campaign = reports.first()?.campaign.clone();
        let good = reports.iter().all(|report| report.good);
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for (word, count) in reports.iter().flat_map(|report| &report.counts) {
            *counts.entry(word.clone()).or_default() += count;
        }
        let rows = reports.into_iter().map(|report| rows(report.cells));
        Some(Self {
            campaign,
            good,
            counts,
            cells: interleaved(rows.collect()).into_iter().flatten().collect(),
        })
    }
}

/// Returns the cells of each scenario.
fn rows(cells: Vec<ScoreCell>) -> Vec<Vec<ScoreCell>> {
    let mut rows: Vec<Vec<ScoreCell>> = Vec::new();
    for cell in cells {
        match rows.last_mut() {
            Some(row) if row[0].scenario == cell.scenario => row.push(cell),
            _ => rows.push(vec![cell]),
        }
    }
    rows
}

// === impl ScoreCell ===

impl ScoreCell {
    fn of(cell: &Cell) -> Self {
        Self {
            scenario: cell.scenario.to_owned(),
            contestant: cell.contestant.to_owned(),
            verdict: cell.verdict,
            is_as_it_has_to_be: cell.is_as_it_has_to_be,
            seed: cell.seed,
            plan: cell.plan,
            at_ms: cell.at_ms,
            took_ms: cell.took_ms,
            text: cell.text.clone(),
        }
    }

    fn named(&self, (scenario, contestant): (&'static str, &'static str)) -> Cell {
        Cell {
            scenario,
            contestant,
            verdict: self.verdict,
            is_as_it_has_to_be: self.is_as_it_has_to_be,
            seed: self.seed,
            plan: self.plan,
            at_ms: self.at_ms,
            took_ms: self.took_ms,
            text: self.text.clone(),
        }
    }
}
