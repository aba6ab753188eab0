//! The invariants, one a file, each a function over a trace.
//!
//! | checker | invariant | about |
//! |---|---|---|
//! | [`convergence`] | after faults end, each cache equals the server, key for key, with uid and version | informer |
//! | [`snapshots`] | a cache holds exactly the state at its version | informer |
//! | [`handler_streams`] | the notifications about a key are legal: add, updates of one uid in order, delete | informer |
//! | [`causes`] | the cause of a notification is true | informer |
//! | [`lost_deletes`] | a handler that knows an object is notified of its deletion | informer |
//! | [`told_truth`] | every state and every deletion in a notification is in the server's log | informer |
//! | [`silent_gaps`] | between two lists a handler is notified of every state | both |
//! | [`contents`] | an object has the content that the server has at that version | informer |
//! | [`undecodable`] | exactly the objects that its type refuses count as undecodable | informer |
//! | [`handler_syncs`] | a handler has synced once it was notified of the whole initial state | informer |
//! | [`waits`] | a wait for a version ends when the cache shows it | informer |
//! | [`cache_first`] | the cache is updated before handlers are notified | informer |
//! | [`time_travel`] | neither a cache nor a handler goes back in time for a key | informer |
//! | [`indexes`] | every index equals a recount | informer |
//! | [`readers`] | every reader of a cache finds what a scan finds | informer |
//! | [`filters`] | a filter before a handler lets through exactly what it accepts | informer |
//! | [`bounded_requests`] | an outage costs as many requests as the backoff's curve allows | informer |
//! | [`backoff`] | waits grow from failure to failure, until the server has proved healthy | informer |
//! | [`retry_after`] | no request comes before the time that a refusal named | informer |
//! | [`herds`] | the watches of a client do not all end after the same time | informer |
//! | [`gates`] | at a gate no more informers list at a time than it lets through | informer |
//! | [`pauses`] | a paused informer neither asks nor listens, and resumes at once | informer |
//! | [`relists`] | a relist has a reason | informer |
//! | [`rewatches`] | a watch resumes exactly where the last one stopped | informer |
//! | [`freshness`] | earlier deliveries of the server are in the cache | informer |
//! | [`statuses`] | the status of an informer is true | informer |
//! | [`reports`] | an informer reports the truth about itself: failures, lists, watches, numbers | informer |
//! | [`resyncs`] | handlers that want resyncs get them in time | informer |
//! | [`reconciles`] | a controller reconciles each object after its last change, one at a time, and sees the newest state | informer |
//! | [`work_queues`] | a queue hands out each item when it is due, in order and at once | informer |
//! | [`queue_stops`] | a queue that was shut down takes nothing new, and ends when its work is done | informer |
//! | [`hot_loops`] | no loop runs without time passing | informer |
//! | [`leaks`] | no task, watch or body outlives its owner | both |
//! | [`warnings`] | nothing unexpected is logged as a warning or an error | both |
//! | [`liveness`] | a client is up to date again within a bound after each fault | informer |
//! | [`reliable`] | a watch delivers every change of its selection, and nothing else | server |
//! | [`ordered`] | a watch delivers changes in the order of their versions | server |
//! | [`unique`] | a watch delivers each change once | server |
//! | [`bookmarkable`] | at a bookmark all changes up to its version have been sent, and none of them follows | server |
//! | [`resumable`] | a watch resumes where another ended, without a gap | server |
//! | [`list_snapshots`] | a list is the state at its version, in pages as well as in a stream | server |
//!
//! Ten of them are common in tests of watches: the six about the server alone, [`time_travel`], [`convergence`],
//! [`lost_deletes`] and, for requests and for time, [`bounded_requests`] and [`liveness`].
//! Each deviation of a server is reported by one checker. A finding that a fault of the plan explains is
//! [expected](Violation::is_expected) of it.

pub mod convergence;
pub mod snapshots;
pub mod handler_streams;
pub mod causes;
pub mod lost_deletes;
pub mod told_truth;
pub mod silent_gaps;
pub mod contents;
pub mod undecodable;
pub mod handler_syncs;
pub mod waits;
pub mod cache_first;
pub mod time_travel;
pub mod indexes;
pub mod readers;
pub mod filters;
pub mod bounded_requests;
pub mod backoff;
pub mod retry_after;
pub mod herds;
pub mod gates;
pub mod pauses;
pub mod relists;
pub mod rewatches;
pub mod freshness;
pub mod statuses;
pub mod reports;
pub mod resyncs;
pub mod reconciles;
pub mod work_queues;
pub mod queue_stops;
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
pub(crate) mod anomalies;
mod watch_streams;
mod paged_lists;
pub(crate) mod deliveries;
mod refusals;
mod queue_model;
mod occasions;
mod differences;
mod reported_requests;
mod reported_counts;

use std::fmt;

use self::occasions::Occasion;
use crate::{
    model::Model,
    trace::{Observation, Trace},
};

/// An invariant and the function that checks it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Checker {
    /// The name in reports.
    pub name: &'static str,
    /// The invariant in words; in the table of this module if `None`.
    promise: Option<&'static str>,
    check: Check,
    occasion: Occasion,
}

/// The function of a checker, by the evidence that it needs.
#[derive(Clone, Copy, Debug)]
enum Check {
    Trace(fn(&Trace) -> Vec<Finding>),
    Model(fn(&Trace, &Model) -> Vec<Finding>),
}

const HOT_LOOPS: &str = "hot_loops";

/// The checkers of informers and servers, in the order of their findings in reports.
pub const CHECKERS: [Checker; 41] = [
    Checker::of_trace(HOT_LOOPS, hot_loops::check, occasions::REQUEST),
    Checker::of_model("convergence", convergence::check, occasions::RECOVERY),
    Checker::of_model("snapshots", snapshots::check, occasions::CACHED),
    Checker::of_trace(
        "handler_streams",
        handler_streams::check,
        occasions::NOTIFIED,
    ),
    Checker::of_trace(
        "causes",
        causes::check,
        occasions::NOTIFIED_BY_RELIST_OR_RESYNC,
    ),
    Checker::of_model(
        "lost_deletes",
        lost_deletes::check,
        occasions::NOTIFIED_OF_DELETION,
    ),
    Checker::of_model("told_truth", told_truth::check, occasions::NOTIFIED),
    Checker::of_model("silent_gaps", silent_gaps::check, occasions::NOTIFIED),
    Checker::of_trace("contents", contents::check, occasions::READ),
    Checker::of_model("undecodable", undecodable::check, occasions::UNDECODABLE),
    Checker::of_trace(
        "handler_syncs",
        handler_syncs::check,
        occasions::HANDLER_SYNC,
    ),
    Checker::of_trace("waits", waits::check, occasions::WAIT_ENDS),
    Checker::of_model("cache_first", cache_first::check, occasions::NOTIFIED),
    Checker::of_trace("time_travel", time_travel::check, occasions::CACHED),
    // These two compare each snapshot once, however often it is observed.
    Checker::of_trace("indexes", indexes::check, occasions::CACHED),
    Checker::of_trace("readers", readers::check, occasions::CACHED),
    Checker::of_trace("filters", filters::check, occasions::NOTIFIED),
    Checker::of_trace(
        "bounded_requests",
        bounded_requests::check,
        occasions::FAULT_BEGINS,
    ),
    Checker::of_trace("backoff", backoff::check, occasions::FAILURE),
    Checker::of_trace("retry_after", retry_after::check, occasions::ASKED_TO_WAIT),
    Checker::of_trace("herds", herds::check, occasions::WATCH_TIMEOUT),
    Checker::of_trace("gates", gates::check, occasions::LIST_GATE),
    Checker::of_trace("pauses", pauses::check, occasions::RESUMED),
    Checker::of_trace("relists", relists::check, occasions::RELIST),
    Checker::of_trace("rewatches", rewatches::check, occasions::REWATCH),
    Checker::of_trace("freshness", freshness::check, occasions::CACHED),
    Checker::of_trace("statuses", statuses::check, occasions::STATUS),
    Checker::of_trace("reports", reports::check, occasions::REPORTED),
    Checker::of_trace("resyncs", resyncs::check, occasions::RESYNC_WANTED),
    Checker::of_trace("reconciles", reconciles::check, occasions::RECONCILE),
    Checker::of_trace("work_queues", work_queues::check, occasions::QUEUE),
    Checker::of_trace("queue_stops", queue_stops::check, occasions::QUEUE_STOP),
    Checker::of_trace("leaks", leaks::check, occasions::INFORMER_STOPPED),
    Checker::of_trace("warnings", warnings::check, occasions::RUN),
    Checker::of_model("liveness", liveness::check, occasions::FAULT_ENDS),
    Checker::of_model("reliable", reliable::check, occasions::EVENT),
    Checker::of_model("ordered", ordered::check, occasions::EVENT),
    Checker::of_model("unique", unique::check, occasions::EVENT),
    Checker::of_model("bookmarkable", bookmarkable::check, occasions::BOOKMARK),
    Checker::of_model("resumable", resumable::check, occasions::REWATCH),
    Checker::of_model("list_snapshots", list_snapshots::check, occasions::PAGE),
];

/// The checkers that assume instant delivery. In real time, clients keep connections as tasks for a while; data behind the
/// transport is still in flight, or lost with its connection; a client waits from the moment at which it notices something,
/// and longer on a busy machine. Hot loops are checked everywhere.
pub(crate) const OF_INSTANT_DELIVERY: [&str; 12] = [
    "pauses",
    "statuses",
    "reports",
    "work_queues",
    "queue_stops",
    "leaks",
    "freshness",
    "rewatches",
    "relists",
    "backoff",
    "resyncs",
    "liveness",
];

/// A violation of an invariant.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The number of the record that shows it, if one does.
    pub record: Option<usize>,
    /// The violation, in words.
    pub text: String,
    /// The place in the plan of a fault that explains the violation.
    pub expected_of: Option<usize>,
}

/// A finding and its checker.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// The name of the checker.
    pub checker: &'static str,
    /// The finding.
    pub finding: Finding,
}

/// Runs checkers over a trace.
///
/// A hot loop ends a run before anything is known of the server's states: it is the only violation then.
pub(crate) fn check_all(
    trace: &Trace,
    checkers: impl Iterator<Item = &'static Checker>,
) -> Vec<Violation> {
    let model = Model::of(trace);
    let mut violations = Vec::new();
    let has_hot_loop = !hot_loops::check(trace).is_empty();
    for checker in checkers.filter(|checker| !has_hot_loop || checker.name == HOT_LOOPS) {
        for finding in checker.check(trace, &model) {
            violations.push(Violation {
                checker: checker.name,
                finding,
            });
        }
    }
    violations
}

/// Returns the row of a checker in the table of this module.
fn row(checker: &str) -> Option<&'static str> {
    let row = format!("//! | [`{checker}`] | ");
    let mut lines = include_str!("mod.rs").lines();
    let rest = lines.find_map(|line| line.strip_prefix(&*row))?;
    rest.split(" | ").next()
}

// === impl Checker ===

impl Checker {
    const fn of_trace(
        name: &'static str,
        check: fn(&Trace) -> Vec<Finding>,
        occasion: Occasion,
    ) -> Self {
        let check = Check::Trace(check);
        Self {
            name,
            promise: None,
            check,
            occasion,
        }
    }

    const fn of_model(
        name: &'static str,
        check: fn(&Trace, &Model) -> Vec<Finding>,
        occasion: Occasion,
    ) -> Self {
        let check = Check::Model(check);
        Self {
            name,
            promise: None,
            check,
            occasion,
        }
    }

    /// Creates the checker of a participant's promise.
    pub(crate) const fn of_participant(
        name: &'static str,
        promise: &'static str,
        check: fn(&Trace) -> Vec<Finding>,
        occasion: Occasion,
    ) -> Self {
        Self {
            promise: Some(promise),
            ..Self::of_trace(name, check, occasion)
        }
    }

    /// Returns the invariant in words.
    pub fn promise(&self) -> Option<&'static str> {
        self.promise.or_else(|| row(self.name))
    }

    /// Returns true if the observation could break the invariant. Without any in a trace, that the invariant holds says
    /// nothing.
    pub fn is_occasion(&self, observation: &Observation) -> bool {
        (self.occasion)(observation)
    }

    /// Finds where `trace` violates the invariant, given the states of the server.
    pub fn check(&self, trace: &Trace, model: &Model) -> Vec<Finding> {
        match self.check {
            Check::Trace(check) => check(trace),
            Check::Model(check) => check(trace, model),
        }
    }
}

// === impl Finding ===

impl Finding {
    /// Creates a finding that a record shows.
    pub fn at(record: usize, text: impl Into<String>) -> Self {
        Self {
            record: Some(record),
            text: text.into(),
            expected_of: None,
        }
    }

    /// Creates a finding about the whole run.
    pub fn whole(text: impl Into<String>) -> Self {
        Self {
            record: None,
            text: text.into(),
            expected_of: None,
        }
    }

    /// Adds the fault that explains the violation.
    #[must_use]
    pub fn expected_of(mut self, fault: Option<usize>) -> Self {
        self.expected_of = fault;
        self
    }
}

// === impl Violation ===

impl Violation {
    /// Returns true if a fault of the plan makes the server break this promise: then the finding only shows that the
    /// checker works.
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
pub(crate) use self::tests::{A, B, Story, check_by, fault_begins, member, state};
#[cfg(test)]
mod tests;
