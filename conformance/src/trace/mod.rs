//! The observations of a run, in order, stamped with simulated time.
//!
//! A trace is the only input of [checkers](crate::checkers). Its text form is the same, to the byte, for every run of
//! one plan.

mod link;
mod part;
mod election;
mod notified;
mod report;
mod controlled;
mod factory;
mod change;
mod observation;
mod recorder;
mod text;

use std::time::Duration;

pub(crate) use self::observation::seconds;
pub use self::{
    change::{Change, Side},
    controlled::{Controlled, QueueEvent, ReconcileOutcome, Standing},
    election::{Candidacy, ElectionEvent, LeaseState},
    factory::{FactoryEvent, FactoryRequest},
    link::Link,
    notified::{Heard, Notified, NotifiedCause},
    observation::{Ending, Failure, Key, Member, Observation, Phase, RequestKind, State},
    part::Part,
    recorder::{CacheView, Recorder, SharedSink, Sink},
    report::{Counts, HandlerCounts, Report},
};

/// All observations of one run. The index of a record is its number, counted from 0.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    records: Vec<Record>,
    lateness: Duration,
}

/// An observation and its time.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Record {
    /// The simulated time since the run began.
    pub at: Duration,
    /// The observation.
    pub observation: Observation,
}

// === impl Trace ===

impl Trace {
    /// Creates an empty trace.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates an empty trace of a run in real time.
    #[cfg(test)]
    pub(crate) fn with_lateness(lateness: Duration) -> Self {
        let mut trace = Self::new();
        trace.allow_lateness(lateness);
        trace
    }

    /// Allows effects to come later than their causes by `lateness`, or more if more was allowed before.
    pub(crate) fn allow_lateness(&mut self, lateness: Duration) {
        self.lateness = self.lateness.max(lateness);
    }

    /// Returns the time by which effects may come after their causes: zero on the paused clock, which waits for all of
    /// them.
    pub(crate) fn lateness(&self) -> Duration {
        self.lateness
    }

    /// Adds an observation. Times never decrease.
    pub fn push(&mut self, at: Duration, observation: Observation) {
        debug_assert!(self.records.last().is_none_or(|last| last.at <= at));
        self.records.push(Record { at, observation });
    }

    /// Returns all records in order.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// Returns all observations in order, each with its number.
    pub fn numbered(&self) -> impl Iterator<Item = (usize, &Observation)> {
        self.records
            .iter()
            .enumerate()
            .map(|(number, record)| (number, &record.observation))
    }

    /// Returns all observations in order, each with its time.
    pub fn timed(&self) -> impl Iterator<Item = (Duration, &Observation)> {
        self.records
            .iter()
            .map(|record| (record.at, &record.observation))
    }

    /// Returns all observations in order.
    pub fn observations(&self) -> impl DoubleEndedIterator<Item = &Observation> {
        self.records.iter().map(|record| &record.observation)
    }
}

#[cfg(test)]
mod tests;
