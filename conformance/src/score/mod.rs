//! The scoreboard: every named scenario against every contestant, with a verdict on each pair.
//!
//! A [`Scenario`] is a few plans that show one failure of production. A [`Contestant`] is a subject in one of its
//! forms. Each pair is a [`Cell`]: the plans run on the paused clock, and the [`judge`] derives a verdict from the
//! traces. `informer` has to hold wherever a correct client can; deviations of no correct server have to be noticed in
//! every cell.

mod verdict;
mod arena;
mod contestant;
mod scenario;
mod server_variants;
mod faults;
mod write_faults;
mod known_failures;
mod delivery_latency;
pub mod judge;
mod board;
mod column;
pub mod others;
mod runner;
mod text;

pub use self::{
    arena::Arena,
    board::{Cell, PlanRun, Row, Scoreboard},
    column::{Column, ColumnCell, Conditions, NotAColumn},
    contestant::{CONTESTANTS, Contestant, EXTERNAL, Flaw},
    runner::{run, run_plan},
    scenario::{Demand, Demands, Scenario},
    verdict::Verdict,
};

/// Returns all scenarios: one for each fault, then the known failures of clients.
pub fn scenarios() -> Vec<Scenario> {
    let mut scenarios = faults::scenarios();
    scenarios.extend(write_faults::scenarios());
    scenarios.extend(known_failures::scenarios());
    scenarios
}

#[cfg(test)]
mod tests;
