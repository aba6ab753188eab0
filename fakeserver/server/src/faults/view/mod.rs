//! Faults of the states that a client sees, after the patterns of Sieve.

pub(super) mod coalesce;
pub(super) mod lagging_replica;
pub(super) mod stale_view;
pub(super) mod time_travel;
pub(super) mod unobserved;

use crate::faults::RequestFacts;

/// Returns whether a replica answers a request from its own state.
///
/// A list or a get without a resource version requests the most recent state, which a replica cannot serve; with
/// `with_quorum` it answers anyway. All pages of a list are of one state.
fn is_of_replica(request: &RequestFacts, with_quorum: bool) -> bool {
    let is_read = match request.verb {
        "watch" => !request.is_watch_list || !request.resource_version.is_empty(),
        "get" | "list" => !request.resource_version.is_empty() && !request.has_continue,
        _ => return false,
    };
    is_read || (with_quorum && !request.has_continue)
}
