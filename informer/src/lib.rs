//! client-go's informer machinery for Rust: a local, indexed, always-converging copy of cluster state.
//!
//! The modules are declared in the order in which data flows, so that this page reads as the flow chart.

// Vocabulary.
pub mod object;
pub mod backoff;
pub mod task;
pub mod metrics;
mod latch;
// Seams.
pub mod known;
pub mod list_watch;
pub mod store;
pub mod handler;
// Stages.
pub mod decode;
pub mod reflector;
pub mod delta_fifo;
pub mod indexer;
pub mod processor;
// Assembly.
pub mod shared_informer;
pub mod lister;
pub mod http;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
#[cfg(test)]
mod fixtures;

pub use self::{
    handler::{EventHandler, Notification},
    http::Scope,
    indexer::IndexFn,
    list_watch::ListWatch,
    lister::{LabelSelector, Lister},
    object::{Deleted, Object, ObjectKey, ResourceVersion, Tombstone},
    processor::{HandlerOptions, HandlerRegistration},
    shared_informer::{SharedInformer, SyncError},
    store::{ReflectorStore, Store},
};
