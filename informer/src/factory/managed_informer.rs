//! One informer of a factory, through its generations.

use std::{
    any::Any,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures::future::{BoxFuture, join_all};

use super::{
    CacheSyncError, UnsyncedInformer, handler_slot::InformerSlot, key::InformerKey,
    observers::ObserverHub,
};
use crate::{
    indexer::{IndexFn, IndexerError},
    reflector::ReflectorObserver,
    shared_informer::{EditIndexError, SharedInformer, SyncError, SyncPhase},
};

/// Makes a generation, the successor of another one if there was any.
pub(super) type Make<K> = Box<dyn Fn(Option<SharedInformer<K>>) -> SharedInformer<K> + Send + Sync>;

/// One informer of a factory, through its generations: each takes over the cache, the indices and the handlers of the
/// one before.
///
/// All who use it hold a count of it, and the factory one more.
pub(super) struct ManagedInformer<K> {
    key: InformerKey,
    make: Make<K>,
    observers: Arc<ObserverHub>,
    state: Mutex<State<K>>,
}

struct State<K> {
    /// The present generation.
    informer: SharedInformer<K>,
    /// True if the informer is stopping, so that nothing is added to it any more.
    is_ending: bool,
    slots: Vec<Arc<dyn InformerSlot<K>>>,
}

/// A managed informer of any type.
pub(super) trait AnyManagedInformer: Any + Send + Sync {
    fn key(&self) -> &InformerKey;
    /// Runs it, with a new generation if the last one is ending or has ended.
    fn start(&self);
    /// Ends the present generation; resolves when no task of it is left.
    fn end(&self) -> BoxFuture<'static, ()>;
    /// Waits for the present generation.
    fn wait_for_cache_sync(&self, limit: Duration) -> BoxFuture<'static, Result<(), SyncError>>;
    /// Returns whether it ended, and no task of it is left.
    fn is_drained(&self) -> bool;
    /// Returns whether there is no handle to its present generation.
    fn is_unused(&self) -> bool;
}

// === impl ManagedInformer ===

impl<K: Send + Sync + 'static> ManagedInformer<K> {
    pub(super) fn new(key: InformerKey, observers: Arc<ObserverHub>, make: Make<K>) -> Self {
        let state = State {
            informer: make(None),
            is_ending: false,
            slots: Vec::new(),
        };
        Self {
            key,
            make,
            observers,
            state: Mutex::new(state),
        }
    }

    /// The present generation.
    pub(super) fn informer(&self) -> SharedInformer<K> {
        self.lock().informer.clone()
    }

    pub(super) fn add_observer(&self, observer: Arc<dyn ReflectorObserver>) {
        self.observers.add(observer);
    }

    /// Adds an index, which all later generations have too.
    pub(super) async fn add_index(
        &self,
        name: Arc<str>,
        function: IndexFn<K>,
    ) -> Result<(), EditIndexError> {
        let informer = self.informer();
        informer.add_index(name, function).await
    }

    /// Adds an index, unless there is one of this name.
    pub(super) async fn ensure_index(
        &self,
        name: Arc<str>,
        function: IndexFn<K>,
    ) -> Result<(), EditIndexError> {
        match self.add_index(name, function).await {
            Err(EditIndexError::Indexer(IndexerError::DuplicateIndex { .. })) => Ok(()),
            outcome => outcome,
        }
    }

    /// Gives a handler its place, in this generation and in those to come.
    pub(super) fn add_slot(&self, slot: Arc<dyn InformerSlot<K>>) {
        let mut state = self.lock();
        state.slots.retain(|own| !own.is_removed());
        if state.is_over() {
            slot.wait_for_next();
        } else {
            slot.join(&state.informer);
        }
        state.slots.push(slot);
    }

    fn lock(&self) -> MutexGuard<'_, State<K>> {
        // A start outside of a runtime panics while it holds the lock; what is kept is whole all the same.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Send + Sync + 'static> AnyManagedInformer for ManagedInformer<K> {
    fn key(&self) -> &InformerKey {
        &self.key
    }

    fn start(&self) {
        let mut state = self.lock();
        if !state.is_over() {
            state.informer.start();
            return;
        }
        let informer = (self.make)(Some(state.informer.clone()));
        state.slots.retain(|own| !own.is_removed());
        // A handler that knows what is held receives what changed since; one that was added later receives all of it,
        // from the writer.
        let (current, new): (Vec<_>, Vec<_>) =
            state.slots.iter().partition(|own| own.knows_the_cache());
        // Those that know the cache come before the start, as of its version; the others after it, so that what they
        // receive as present is what the writer has then.
        for own in current {
            own.resume(&informer);
        }
        informer.start();
        for own in new {
            own.join(&informer);
        }
        state.informer = informer;
        state.is_ending = false;
    }

    fn end(&self) -> BoxFuture<'static, ()> {
        let informer = {
            let mut state = self.lock();
            state.is_ending = true;
            state.informer.clone()
        };
        Box::pin(async move { informer.shutdown().await })
    }

    fn wait_for_cache_sync(&self, limit: Duration) -> BoxFuture<'static, Result<(), SyncError>> {
        // Without a handle, which would keep it from being unused.
        Box::pin(self.lock().informer.sync_wait(limit))
    }

    fn is_drained(&self) -> bool {
        let state = self.lock();
        state.has_stopped() && state.informer.task_count() == 0
    }

    fn is_unused(&self) -> bool {
        self.lock().informer.handle_count() == 1
    }
}

// === impl State ===

impl<K: Send + Sync + 'static> State<K> {
    /// Returns whether the present generation receives nothing more.
    fn is_over(&self) -> bool {
        self.is_ending || self.has_stopped()
    }

    fn has_stopped(&self) -> bool {
        self.informer.status().phase == SyncPhase::Stopped
    }
}

/// Waits for all of `entries` at once, at most for `limit`, and names those that are not synced then.
pub(super) async fn wait_for_all(
    entries: Vec<Arc<dyn AnyManagedInformer>>,
    limit: Duration,
) -> Result<(), CacheSyncError> {
    let informer_count = entries.len();
    let waits = entries.into_iter().map(|entry| {
        // Without a count of the entry, which would keep it from being unused.
        let (key, wait) = (entry.key().clone(), entry.wait_for_cache_sync(limit));
        async move {
            let error = wait.await.err()?;
            let informer = Arc::from(key.to_string());
            Some(UnsyncedInformer { informer, error })
        }
    });
    let waits: Vec<_> = waits.collect();
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
