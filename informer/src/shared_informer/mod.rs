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
//! The cache shows a change before any handler hears of it. A replacement of the whole state is compared with the cache:
//! handlers hear of its deletions first, as tombstones, then of true updates and adds; what did not change keeps its
//! allocation and is not told. An object whose uid changed is a deletion and an add.
//!
//! No key goes back in time: an event or a list item that is older than what is known is ignored and counted
//! ([`InformerMetrics::stale_versions`]), unless the server was asked for its most recent state and says so.

mod absence;
mod apply;
mod replace;
mod present;
mod transform;
mod cache_input;
mod status;
mod sync;
mod progress;
mod consistency;
mod checker;
mod stats;
pub mod metrics;
mod runner;
mod builder;
mod informer;
mod handlers;
mod freshness;
mod plain;
#[cfg(test)]
mod tests;

pub(crate) use self::sync::SyncState;
pub use self::{
    builder::SharedInformerBuilder,
    cache_input::CacheInput,
    consistency::{ConsistencyError, ConsistencyReport, Difference},
    informer::{EditIndexError, SharedInformer},
    plain::Informer,
    progress::WaitError,
    stats::InformerMetrics,
    status::{StatusStream, SyncPhase, SyncStatus},
    sync::SyncError,
};
