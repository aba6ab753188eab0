//! What was observed in a run, in order, stamped with simulated time.
//!
//! A trace is all that [checkers](crate::checkers) see. Its text form is the same, to the byte, for every run of one plan.

mod observation;
mod recorder;
mod text;

use std::time::Duration;

pub(crate) use self::observation::seconds;
pub use self::{
    observation::{
        Change, Ending, Failure, Heard, Key, Member, Notified, Observation, Phase, RequestKind,
        State,
    },
    recorder::Recorder,
};

/// Everything observed in one run. The place of a record is its number, counted from 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    records: Vec<Record>,
}

/// One thing observed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Record {
    /// Simulated time since the run began.
    pub at: Duration,
    /// What.
    pub observation: Observation,
}

// === impl Trace ===

impl Trace {
    /// A trace in which nothing was observed.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an observation. Times may not go back.
    pub fn push(&mut self, at: Duration, observation: Observation) {
        debug_assert!(self.records.last().is_none_or(|last| last.at <= at));
        self.records.push(Record { at, observation });
    }

    /// All records in order.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// All observations in order, each with its number.
    pub fn numbered(&self) -> impl Iterator<Item = (usize, &Observation)> {
        self.records
            .iter()
            .enumerate()
            .map(|(number, record)| (number, &record.observation))
    }

    /// All observations in order, each with its time.
    pub fn timed(&self) -> impl Iterator<Item = (Duration, &Observation)> {
        self.records
            .iter()
            .map(|record| (record.at, &record.observation))
    }

    /// All observations in order.
    pub fn observations(&self) -> impl DoubleEndedIterator<Item = &Observation> {
        self.records.iter().map(|record| &record.observation)
    }
}

#[cfg(test)]
mod tests;
