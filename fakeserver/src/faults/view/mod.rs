//! What a client sees of the states of the cluster, where others see more: the patterns of Sieve.

mod coalesce;
mod lagging_replica;
mod stale_view;
mod time_travel;
mod unobserved;

pub use self::{
    coalesce::{Coalesce, coalesce},
    lagging_replica::{LaggingReplica, lagging_replica},
    stale_view::{StaleView, stale_view},
    time_travel::{TimeTravel, time_travel},
    unobserved::{Unobserved, unobserved},
};

use crate::faults::RequestFacts;

/// Whether a replica answers it from what it knows itself. A list or a get that names no version is about the most recent
/// state, which it would have to ask for; `with_quorum` says that it does not. The pages of a list are all of one state.
fn is_of_replica(request: &RequestFacts, with_quorum: bool) -> bool {
    let is_read = match request.verb {
        "watch" => !request.is_watch_list || !request.resource_version.is_empty(),
        "get" | "list" => !request.resource_version.is_empty() && !request.has_continue,
        _ => return false,
    };
    is_read || (with_quorum && !request.has_continue)
}
