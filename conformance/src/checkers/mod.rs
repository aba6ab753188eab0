//! The invariants, one a file, each a function over a trace.
//!
//! | checker | what has to hold | about |
//! |---|---|---|
//! | [`convergence`] | after faults end, each cache equals the server, key for key, with uid and version | informer |
//! | [`snapshots`] | a cache holds exactly the state at the version that it says it stands at | informer |
//! | [`handler_streams`] | what a handler hears of a key is legal: add, updates of one uid in order, delete | informer |
//! | [`lost_deletes`] | whoever heard of an object hears of its end; a handler's fold equals the server | informer |
//! | [`told_truth`] | every state and every deletion that a handler hears of is in the server's log | informer |
//! | [`silent_gaps`] | between two lists a handler hears of every state | both |
//! | [`cache_first`] | the cache knows before the handler | informer |
//! | [`time_travel`] | a cache and a handler never go back for a key | informer |
//! | [`indexes`] | every index equals a recount | informer |
//! | [`bounded_requests`] | an outage costs requests as the backoff's curve allows | informer |
//! | [`backoff`] | waits grow from failure to failure, until the server has proved healthy | informer |
//! | [`retry_after`] | who is asked to wait, waits | informer |
//! | [`relists`] | a relist has a reason | informer |
//! | [`rewatches`] | a watch goes on exactly where the last one stopped | informer |
//! | [`freshness`] | what the server told before this moment is in the cache | informer |
//! | [`resyncs`] | a handler that wants to hear of everything again does | informer |
//! | [`hot_loops`] | nothing goes round without time passing | informer |
//! | [`leaks`] | no task, watch or body outlives its owner | both |
//! | [`warnings`] | nobody warns of what was not meant to happen | both |
//! | [`liveness`] | a client is up to date again within a bound after each fault | informer |
//! | [`reliable`] | a watch brings every change of its selection, and nothing else | server |
//! | [`ordered`] | a watch brings changes in order of their versions | server |
//! | [`unique`] | a watch brings each change once | server |
//! | [`bookmarkable`] | at a bookmark all changes up to its version have come, and none comes later | server |
//! | [`resumable`] | a watch goes on where another ended, without a gap | server |
//! | [`list_snapshots`] | a list is the state at its version, whatever its pages, or as a stream | server |
//!
//! Ten of them are what everybody tests who tests watches: the six about the server alone, [`time_travel`],
//! [`convergence`], [`lost_deletes`] and, for requests and for time, [`bounded_requests`] and [`liveness`].
//! Each mistake of a server is one checker's to find: none of those about it says what another has said.
//! Where a fault makes the server wrong on purpose, findings are [expected](Violation::is_expected) of it.

pub mod convergence;
pub mod snapshots;
pub mod handler_streams;
pub mod lost_deletes;
pub mod told_truth;
pub mod silent_gaps;
pub mod cache_first;
pub mod time_travel;
pub mod indexes;
pub mod bounded_requests;
pub mod backoff;
pub mod retry_after;
pub mod relists;
pub mod rewatches;
pub mod freshness;
pub mod resyncs;
pub mod hot_loops;
pub mod leaks;
pub mod warnings;
pub mod liveness;
pub mod reliable;
pub mod ordered;
pub mod unique;
pub mod bookmarkable;
pub mod resumable;
pub mod list_snapshots;
mod anomalies;
mod stream;
mod lists;
mod heard;

use std::fmt;

use crate::{model::Model, trace::Trace};

/// An invariant: finds where a trace breaks it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Checker {
    /// Its name.
    pub name: &'static str,
    /// Finds where `trace` breaks it, given what was true on the server.
    pub check: fn(&Trace, &Model) -> Vec<Finding>,
}

/// All checkers, in the order in which their findings are told.
pub const CHECKERS: [Checker; 26] = [
    Checker::new("hot_loops", hot_loops::check),
    Checker::new("convergence", convergence::check),
    Checker::new("snapshots", snapshots::check),
    Checker::new("handler_streams", handler_streams::check),
    Checker::new("lost_deletes", lost_deletes::check),
    Checker::new("told_truth", told_truth::check),
    Checker::new("silent_gaps", silent_gaps::check),
    Checker::new("cache_first", cache_first::check),
    Checker::new("time_travel", time_travel::check),
    Checker::new("indexes", indexes::check),
    Checker::new("bounded_requests", bounded_requests::check),
    Checker::new("backoff", backoff::check),
    Checker::new("retry_after", retry_after::check),
    Checker::new("relists", relists::check),
    Checker::new("rewatches", rewatches::check),
    Checker::new("freshness", freshness::check),
    Checker::new("resyncs", resyncs::check),
    Checker::new("leaks", leaks::check),
    Checker::new("warnings", warnings::check),
    Checker::new("liveness", liveness::check),
    Checker::new("reliable", reliable::check),
    Checker::new("ordered", ordered::check),
    Checker::new("unique", unique::check),
    Checker::new("bookmarkable", bookmarkable::check),
    Checker::new("resumable", resumable::check),
    Checker::new("list_snapshots", list_snapshots::check),
];

/// A place where an invariant does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The number of the record that shows it, if one does.
    pub record: Option<usize>,
    /// What is not as it should be.
    pub text: String,
    /// The place in the plan of a fault that makes the server wrong on purpose, if one has touched this.
    pub expected_of: Option<usize>,
}

/// A finding and who found it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// The name of the checker.
    pub checker: &'static str,
    /// What it found.
    pub finding: Finding,
}

/// Runs all checkers over a trace.
pub fn check_all(trace: &Trace) -> Vec<Violation> {
    let model = Model::of(trace);
    let mut violations = Vec::new();
    for checker in CHECKERS {
        for finding in (checker.check)(trace, &model) {
            violations.push(Violation {
                checker: checker.name,
                finding,
            });
        }
    }
    violations
}

// === impl Checker ===

impl Checker {
    const fn new(name: &'static str, check: fn(&Trace, &Model) -> Vec<Finding>) -> Self {
        Self { name, check }
    }
}

// === impl Finding ===

impl Finding {
    /// A finding that a record shows.
    pub fn at(record: usize, text: impl Into<String>) -> Self {
        Self {
            record: Some(record),
            text: text.into(),
            expected_of: None,
        }
    }

    /// A finding about the whole run.
    pub fn whole(text: impl Into<String>) -> Self {
        Self {
            record: None,
            text: text.into(),
            expected_of: None,
        }
    }

    /// The same, as the work of a fault that makes the server wrong on purpose.
    #[must_use]
    pub fn expected_of(mut self, fault: Option<usize>) -> Self {
        self.expected_of = fault;
        self
    }
}

// === impl Violation ===

impl Violation {
    /// Whether a fault of the plan breaks this promise of the server on purpose: then it only shows that the checker works.
    pub fn is_expected(&self) -> bool {
        self.finding.expected_of.is_some()
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.checker, self.finding.text)?;
        if let Some(record) = self.finding.record {
            write!(f, " (record #{record:05})")?;
        }
        match self.finding.expected_of {
            Some(fault) => write!(f, ", expected of fault {fault}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
