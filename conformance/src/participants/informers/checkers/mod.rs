//! The invariants of informers, and of servers as informers observe them: one a file, each a function over a trace.
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
//! [expected](crate::checkers::Violation::is_expected) of it.

mod convergence;
mod snapshots;
mod handler_streams;
mod causes;
mod lost_deletes;
mod told_truth;
mod silent_gaps;
mod contents;
mod undecodable;
mod handler_syncs;
mod waits;
mod cache_first;
mod time_travel;
mod indexes;
mod readers;
mod filters;
mod bounded_requests;
mod backoff;
mod retry_after;
mod herds;
mod gates;
mod pauses;
mod relists;
mod rewatches;
mod freshness;
mod statuses;
mod reports;
mod resyncs;
mod leaks;
mod warnings;
mod liveness;
mod reliable;
mod ordered;
mod unique;
mod bookmarkable;
mod resumable;
mod list_snapshots;
mod watch_streams;
mod paged_lists;
pub(crate) mod deliveries;
mod refusals;
mod occasions;
mod differences;
mod reported_requests;
mod reported_counts;

use crate::checkers::{Checker, Finding, hot_loops};

/// The text of this module, whose table has the words of the checkers.
const TABLE: &str = include_str!("mod.rs");

macro_rules! checkers {
    ($($kind:ident $name:ident $occasion:ident,)*) => {
        [$(Checker::$kind(TABLE, stringify!($name), $name::check, occasions::$occasion)),*]
    };
}

/// The checkers of informers and servers, in the order of their findings in reports.
pub(crate) const CHECKERS: [Checker; 38] = checkers! {
    of_trace hot_loops REQUEST,
    of_model convergence RECOVERY,
    of_model snapshots CACHED,
    of_trace handler_streams NOTIFIED,
    of_trace causes NOTIFIED_BY_RELIST_OR_RESYNC,
    of_model lost_deletes NOTIFIED_OF_DELETION,
    of_model told_truth NOTIFIED,
    of_model silent_gaps NOTIFIED,
    of_trace contents READ,
    of_model undecodable UNDECODABLE,
    of_trace handler_syncs HANDLER_SYNC,
    of_trace waits WAIT_ENDS,
    of_model cache_first NOTIFIED,
    of_trace time_travel CACHED,
    // These two compare each snapshot once, however often it is observed.
    of_trace indexes CACHED,
    of_trace readers CACHED,
    of_trace filters NOTIFIED,
    of_trace bounded_requests FAULT_BEGINS,
    of_trace backoff FAILURE,
    of_trace retry_after ASKED_TO_WAIT,
    of_trace herds WATCH_TIMEOUT,
    of_trace gates LIST_GATE,
    of_trace pauses RESUMED,
    of_trace relists RELIST,
    of_trace rewatches REWATCH,
    of_trace freshness CACHED,
    of_trace statuses STATUS,
    of_trace reports REPORTED,
    of_trace resyncs RESYNC_WANTED,
    of_trace leaks INFORMER_STOPPED,
    of_trace warnings RUN,
    of_model liveness FAULT_ENDS,
    of_model reliable EVENT,
    of_model ordered EVENT,
    of_model unique EVENT,
    of_model bookmarkable BOOKMARK,
    of_model resumable REWATCH,
    of_model list_snapshots PAGE,
};

/// The checkers that assume instant delivery. In real time, clients keep connections as tasks for a while; data behind the
/// transport is still in flight, or lost with its connection; a client waits from the moment at which it notices something,
/// and longer on a busy machine. Hot loops are checked everywhere.
pub(crate) const OF_INSTANT_DELIVERY: [&str; 10] = [
    "pauses",
    "statuses",
    "reports",
    "leaks",
    "freshness",
    "rewatches",
    "relists",
    "backoff",
    "resyncs",
    "liveness",
];

#[cfg(test)]
pub(crate) use self::tests::{A, B, TraceBuilder, check_by, fault_begins, member, state};
#[cfg(test)]
mod tests;
