//! The observations of a run, in order, stamped with simulated time.
//!
//! A trace is the only input of [checkers](crate::checkers). Its text form is the same, to the byte, for every run of
//! one plan.

mod link;
mod part;
mod member;
mod exchange;
mod in_file;
mod notified;
mod report;
mod change;
mod table;
mod participant_event;
mod text;
mod observation;
mod recorder;

use std::time::Duration;

pub use self::{
    change::{Change, Side},
    exchange::{Ending, Failure, Phase, RequestKind},
    link::Link,
    member::{Key, Member, State},
    notified::{HandlerNotification, NotifiedCause, NotifiedChange},
    observation::Observation,
    part::Part,
    participant_event::ParticipantEvent,
    recorder::{CacheView, Recorder, SharedSink, Sink},
    report::{Counts, HandlerCounts, Report},
};
pub(crate) use self::{
    in_file::{Concern, Lane, Objects, Source, answered, asked, ended, numbered, started},
    participant_event::Event,
    table::observations,
    text::{list, or_none, synced},
};
pub(crate) use crate::tracefile::seconds;

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
