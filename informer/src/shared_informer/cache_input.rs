//! The way into the cache of one informer, for what is put in front of it.

use std::fmt;

use super::transform::Transforming;
use crate::{
    delta_fifo::DeltaFifoProducer,
    object::{DecodeError, Object, ResourceVersion},
    store::{ReflectorStore, Replacement, StoreClosed},
};

/// The way into the cache of one informer: see
/// [`SharedInformerBuilder::build_through`](super::SharedInformerBuilder::build_through).
///
/// Dropping it ends the informer, once what was written before is in the cache.
pub struct CacheInput<K>(Transforming<DeltaFifoProducer<K>, K>);

// === impl CacheInput ===

impl<K> CacheInput<K> {
    pub(super) fn new(store: Transforming<DeltaFifoProducer<K>, K>) -> Self {
        Self(store)
    }
}

impl<K: Send + Sync + 'static> ReflectorStore<K> for CacheInput<K> {
    async fn add(&mut self, object: Object<K>) -> Result<(), StoreClosed> {
        self.0.add(object).await
    }

    async fn update(&mut self, object: Object<K>) -> Result<(), StoreClosed> {
        self.0.update(object).await
    }

    async fn delete(&mut self, object: Object<K>) -> Result<(), StoreClosed> {
        self.0.delete(object).await
    }

    async fn undecodable(&mut self, error: DecodeError) -> Result<(), StoreClosed> {
        self.0.undecodable(error).await
    }

    async fn delete_undecodable(&mut self, error: DecodeError) -> Result<(), StoreClosed> {
        self.0.delete_undecodable(error).await
    }

    async fn replace(&mut self, replacement: Replacement<K>) -> Result<(), StoreClosed> {
        self.0.replace(replacement).await
    }

    async fn bookmark(&mut self, resource_version: ResourceVersion) -> Result<(), StoreClosed> {
        self.0.bookmark(resource_version).await
    }
}

impl<K> fmt::Debug for CacheInput<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CacheInput").finish_non_exhaustive()
    }
}
