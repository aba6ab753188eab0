//! The results of all pairs.

use std::{collections::BTreeMap, time::Duration};

use super::{Contestant, Demand, Scenario, Verdict, judge::Judgement};
use crate::{checkers::Violation, seed::Seed, sim::Plan};

/// The verdicts on the selected contestants in the selected scenarios.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Scoreboard {
    /// The contestants, in the order of the columns.
    pub contestants: Vec<&'static str>,
    /// The scenarios, in the order of the rows.
    pub scenarios: Vec<Row>,
    /// The cells, row by row.
    pub cells: Vec<Cell>,
}

/// The description of a scenario.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Row {
    /// Its name.
    pub name: &'static str,
    /// Its origin.
    pub origin: &'static str,
    /// Its events.
    pub about: &'static str,
    /// The excused demands, with a reason; empty if there are none.
    pub excused: &'static str,
}

/// The verdict on one contestant in one scenario: the worst of its runs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Cell {
    /// The scenario.
    pub scenario: &'static str,
    /// The contestant.
    pub contestant: &'static str,
    /// The verdict.
    pub verdict: Verdict,
    /// True if the verdict is the required one.
    pub is_as_it_has_to_be: bool,
    /// The seed of the run.
    pub seed: Seed,
    /// The number of the scenario's plan, from 1.
    pub plan: usize,
    /// The time of the failure, in simulated milliseconds.
    pub at_ms: u64,
    /// The time from the end of all faults until every cache was equal to the server, in simulated milliseconds;
    /// nothing if that never happened.
    pub took_ms: Option<u64>,
    /// The failure, in words; empty if there is none.
    pub text: String,
}

/// A judged run of one of a scenario's plans.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PlanRun {
    /// The plan, as it was run.
    pub plan: Plan,
    /// The verdict.
    pub judgement: Judgement,
    /// The broken promises that the contestant makes, and findings about the server; none if there was no run.
    pub violations: Vec<Violation>,
}

// === impl Scoreboard ===

impl Scoreboard {
    /// Creates a board without cells.
    pub(crate) fn new(scenarios: &[Scenario], contestants: &[Contestant]) -> Self {
        let names = contestants.iter().map(|contestant| contestant.name);
        let rows = scenarios.iter().map(|scenario| Row {
            name: scenario.name,
            origin: scenario.origin,
            about: scenario.about,
            excused: scenario.excused,
        });
        Self {
            contestants: names.collect(),
            scenarios: rows.collect(),
            cells: Vec::new(),
        }
    }

    /// Creates the board of one scenario and one contestant, of the runs of all its plans.
    ///
    /// # Panics
    ///
    /// Without a run.
    pub fn of(
        scenario: &Scenario,
        contestant: Contestant,
        runs: impl IntoIterator<Item = PlanRun>,
    ) -> Self {
        let judgements = runs.into_iter().map(|run| (run.plan, run.judgement));
        let cell = Cell::of(scenario, contestant, judgements);
        let mut board = Self::new(std::slice::from_ref(scenario), &[contestant]);
        board.cells.push(cell);
        board
    }

    /// Returns true if every cell that has to hold does, and every control was noticed.
    pub fn is_good(&self) -> bool {
        self.cells.iter().all(|cell| cell.is_as_it_has_to_be)
    }

    /// Returns the cell of a scenario and a contestant.
    pub fn cell(&self, scenario: &str, contestant: &str) -> Option<&Cell> {
        self.cells
            .iter()
            .find(|cell| cell.scenario == scenario && cell.contestant == contestant)
    }

    /// Returns the number of cells of each verdict.
    pub fn counts(&self) -> BTreeMap<&'static str, usize> {
        let mut counts = BTreeMap::new();
        for cell in &self.cells {
            *counts.entry(cell.verdict.word()).or_default() += 1;
        }
        counts
    }
}

// === impl Cell ===

impl Cell {
    /// Creates the cell of the worst verdict in a scenario's plans.
    pub(super) fn of(
        scenario: &Scenario,
        contestant: Contestant,
        judgements: impl IntoIterator<Item = (Plan, Judgement)>,
    ) -> Self {
        let is_control = scenario.asks.demand == Demand::BeCaught;
        let has_to_hold = contestant.has_to_hold || is_control;
        let worst = judgements.into_iter().enumerate().reduce(|worst, other| {
            let rank = |judgement: &Judgement| (judgement.verdict, judgement.took);
            if rank(&other.1.1) > rank(&worst.1.1) {
                other
            } else {
                worst
            }
        });
        let (place, (plan, judgement)) = worst.expect("a scenario has a plan");
        Self {
            scenario: scenario.name,
            contestant: contestant.name,
            verdict: judgement.verdict,
            is_as_it_has_to_be: judgement.verdict.is_good() || !has_to_hold,
            seed: plan.seed,
            plan: place + 1,
            at_ms: milliseconds(judgement.at),
            took_ms: judgement.took.map(milliseconds),
            text: judgement.text,
        }
    }

    /// Returns the time of the failure, in simulated time.
    pub fn at(&self) -> Duration {
        Duration::from_millis(self.at_ms)
    }

    /// Returns the time of convergence, in simulated time; `None` if the cache never converged.
    pub fn took(&self) -> Option<Duration> {
        self.took_ms.map(Duration::from_millis)
    }
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
