//! Informers of any type, side by side.

use std::{any::Any, sync::Arc, time::Duration};

use futures::future::{BoxFuture, join_all};

use super::{CacheSyncError, Unsynced, key::InformerKey};
use crate::shared_informer::{SharedInformer, SyncError, SyncPhase};

/// An informer of whatever type.
pub(super) trait AnyInformer: Any + Send + Sync {
    fn start(&self);
    fn wait_for_cache_sync(&self, limit: Duration) -> BoxFuture<'_, Result<(), SyncError>>;
    fn shutdown(&self) -> BoxFuture<'_, ()>;
    /// Whether it ended, so that it will not hear of anything again.
    fn has_stopped(&self) -> bool;
    /// Whether no task of it is left.
    fn is_drained(&self) -> bool;
    /// Whether this is its only handle.
    fn is_unused(&self) -> bool;
    /// Another handle to it.
    fn to_box(&self) -> Box<dyn AnyInformer>;
}

// === impl AnyInformer ===

impl<K: Send + Sync + 'static> AnyInformer for SharedInformer<K> {
    fn start(&self) {
        self.start();
    }

    fn wait_for_cache_sync(&self, limit: Duration) -> BoxFuture<'_, Result<(), SyncError>> {
        Box::pin(self.wait_for_cache_sync(limit))
    }

    fn shutdown(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.shutdown())
    }

    fn has_stopped(&self) -> bool {
        self.status().phase == SyncPhase::Stopped
    }

    fn is_drained(&self) -> bool {
        self.has_stopped() && self.task_count() == 0
    }

    fn is_unused(&self) -> bool {
        self.handle_count() == 1
    }

    fn to_box(&self) -> Box<dyn AnyInformer> {
        Box::new(self.clone())
    }
}

/// Waits for all of `informers` at once, at most for `limit`, and names those that are not synced then.
pub(super) async fn wait_for_all(
    informers: Vec<(InformerKey, Box<dyn AnyInformer>)>,
    limit: Duration,
) -> Result<(), CacheSyncError> {
    let informer_count = informers.len();
    let waits = informers.iter().map(|(key, informer)| async move {
        let error = informer.wait_for_cache_sync(limit).await.err()?;
        let informer = Arc::from(key.to_string());
        Some(Unsynced { informer, error })
    });
    let unsynced: Vec<_> = join_all(waits).await.into_iter().flatten().collect();
    if unsynced.is_empty() {
        return Ok(());
    }
    Err(CacheSyncError {
        limit,
        informer_count,
        unsynced,
    })
}
