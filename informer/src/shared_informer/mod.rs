//! One resource, from the server to the handlers: the assembly of the stages, and their only writer.
//!
//! ```text
//! reflector ──► delta_fifo ──► runner ──► indexer ──► lister, indexer, store
//!                                └──────► processor ──► handlers
//! ```
//!
//! The runner takes a batch of changes, decides by the cache what they mean (`apply`), publishes the new cache, and then
//! hands the notifications to the handlers' mailboxes. It waits for no handler.
//!
//! # Ordering
//!
//! The cache shows a change before any handler is notified. A replacement of the whole state is compared with the
//! cache: handlers receive the deletions first, as tombstones, then true updates and adds; what did not change keeps
//! its allocation and causes no notification. An object whose uid changed is a deletion and an add.
//!
//! No key goes back in time: an event or a list item that is older than what is known is ignored and counted
//! ([`InformerMetrics::stale_versions`]), unless the server answered a request for its most recent state with it.

mod deletion_log;
mod apply;
mod replace;
mod snapshot_iter;
mod transform;
mod cache_input;
mod status;
mod sync;
mod progress;
mod consistency;
mod checker;
mod stats;
pub(crate) mod metrics;
mod state;
mod runner;
mod builder;
#[cfg(feature = "compact")]
mod compact;
mod freshness;
mod handle;
mod handlers;
mod informer;
#[cfg(test)]
mod tests;

pub use self::{
    builder::SharedInformerBuilder,
    cache_input::CacheInput,
    consistency::{ConsistencyError, ConsistencyReport, Difference},
    handle::{EditIndexError, SharedInformer},
    informer::Informer,
    progress::WaitError,
    stats::InformerMetrics,
    status::{StatusStream, SyncPhase, SyncStatus},
    sync::SyncError,
};
