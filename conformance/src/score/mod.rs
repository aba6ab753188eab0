//! The scoreboard: every named scenario against every contestant, and what became of each pair.
//!
//! A [`Scenario`] is a few plans that show one thing that happens in production. A [`Contestant`] is a subject in one of
//! its forms. Each pair is a [`Cell`]: the plans are run on the paused clock, and the [`judge`] reads from the traces what
//! went wrong, if anything did. `informer` has to hold wherever a correct client can; what no correct server does has to
//! be noticed in every cell.

mod verdict;
mod arena;
mod contestant;
mod scenario;
mod quirks;
mod faults;
mod writers;
mod lessons;
mod hearing;
pub mod judge;
mod board;
mod runner;
mod text;

pub use self::{
    arena::Arena,
    board::{Cell, Row, Scoreboard},
    contestant::{CONTESTANTS, Contestant, EXTERNAL, Flaw},
    runner::{run, traces},
    scenario::{Asks, Demand, Scenario},
    verdict::Verdict,
};

/// All scenarios: one for each fault, then what clients are known to have failed at.
pub fn scenarios() -> Vec<Scenario> {
    let mut scenarios = faults::scenarios();
    scenarios.extend(writers::scenarios());
    scenarios.extend(lessons::scenarios());
    scenarios
}

#[cfg(test)]
mod tests;
