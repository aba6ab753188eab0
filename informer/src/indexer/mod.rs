//! The objects of one resource, ordered by key, with indices; readers hold snapshots and never wait.
//!
//! A [`Snapshot`] is persistent: editing a copy shares all that did not change. The one [`IndexerWriter`] edits a copy
//! and publishes it once per batch; an [`Indexer`] reads the last published one, as of one moment.
//!
//! The index [`NAMESPACE_INDEX`] always exists and costs nothing: it is the order of the keys.
//!
//! # Memory
//!
//! An entry costs its handle, its share of a map node, and for each index one entry per value. A snapshot that is held keeps
//! the versions that it shows; let go of it soon.

mod error;
mod index_fn;
mod query;
mod index;
mod snapshot;
mod driver;
#[cfg(test)]
mod tests;

pub use self::{
    driver::{Indexer, IndexerWriter},
    error::{IndexerError, RecountError},
    index_fn::IndexFn,
    snapshot::{NAMESPACE_INDEX, Snapshot},
};
