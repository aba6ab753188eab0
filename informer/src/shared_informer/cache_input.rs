//! The way into the cache of one informer: objects are filtered, and then transformed, once each.

use std::{fmt, sync::Arc};

use super::transform::Transform;
use crate::{
    delta_fifo::DeltaFifoProducer,
    handler::Filter,
    object::{DecodeError, Object},
    store::{Delta, ReflectorStore, Replacement, StoreClosed},
};

/// The way into the cache of one informer: see
/// [`SharedInformerBuilder::build_through`](super::SharedInformerBuilder::build_through).
///
/// Dropping it ends the informer, once the changes written before are in the cache.
pub struct CacheInput<K> {
    queue: DeltaFifoProducer<K>,
    filter: Option<Filter<K>>,
    transform: Transform<K>,
}

// === impl CacheInput ===

impl<K> CacheInput<K> {
    pub(super) fn new(
        queue: DeltaFifoProducer<K>,
        filter: Option<Filter<K>>,
        transform: Transform<K>,
    ) -> Self {
        Self {
            queue,
            filter,
            transform,
        }
    }

    fn admit(&self, delta: Delta<K>) -> Delta<K> {
        match delta {
            Delta::Upserted(object) => self.admit_upserted(object),
            Delta::Deleted(object) => self.admit_deleted(object),
            Delta::ReplacedAll(replacement) => {
                Delta::ReplacedAll(self.admit_replacement(replacement))
            }
            delta => delta,
        }
    }

    fn admit_upserted(&self, object: Object<K>) -> Delta<K> {
        match self.is_wanted(&object) {
            Ok(true) => match self.transform.apply(object) {
                Ok(object) => Delta::Upserted(object),
                Err(error) => Delta::Undecodable(error),
            },
            // It may have been wanted before: to this informer it left the selection.
            Ok(false) => self.admit_deleted(object),
            Err(error) => Delta::Undecodable(error),
        }
    }

    fn admit_deleted(&self, object: Object<K>) -> Delta<K> {
        match self.transform.apply(object) {
            Ok(object) => Delta::Deleted(object),
            Err(error) => Delta::DeletedUndecodable(error),
        }
    }

    fn admit_replacement(&self, mut replacement: Replacement<K>) -> Replacement<K> {
        for object in std::mem::take(&mut replacement.objects) {
            let admitted = match self.is_wanted(&object) {
                Ok(true) => self.transform.apply(object),
                Ok(false) => continue,
                Err(error) => Err(error),
            };
            match admitted {
                Ok(object) => replacement.objects.push(object),
                Err(error) => replacement.undecodable.push(error),
            }
        }
        replacement
    }

    fn is_wanted(&self, object: &Object<K>) -> Result<bool, DecodeError> {
        is_wanted(self.filter.as_ref(), object)
            .inspect_err(|error| self.transform.note_failure(error, "filter failed"))
    }
}

impl<K: Send + Sync + 'static> ReflectorStore<K> for CacheInput<K> {
    async fn write(&mut self, delta: Delta<K>) -> Result<(), StoreClosed> {
        let delta = self.admit(delta);
        self.queue.write(delta).await
    }
}

impl<K> fmt::Debug for CacheInput<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CacheInput").finish_non_exhaustive()
    }
}

/// Returns true if `object` passes `filter`. An object that the cache gave back in place of a list item passed it before.
pub(super) fn is_wanted<K>(
    filter: Option<&Filter<K>>,
    object: &Object<K>,
) -> Result<bool, DecodeError> {
    match filter {
        Some(filter) if !object.is_transformed() => filter
            .check(object)
            .map_err(|reason| refused(object, reason)),
        _ => Ok(true),
    }
}

fn refused<K>(object: &Object<K>, reason: impl fmt::Display) -> DecodeError {
    DecodeError {
        key: object.key().clone(),
        resource_version: object.resource_version().clone(),
        source: Arc::new(serde::de::Error::custom(reason)),
    }
}
