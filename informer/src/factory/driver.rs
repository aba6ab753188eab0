//! Keeps informers, shares them, and runs them together.

use std::{
    any::Any,
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures::future::{BoxFuture, join_all};

use super::{
    CacheSyncError,
    key::InformerKey,
    managed_informer::{AnyManagedInformer, ManagedInformer, wait_for_all},
    options::Options,
};
use crate::{reflector::ReflectorObserver, rest_mapper::RestMapper};

/// Makes shared informers over one client; see the [module](crate::factory).
///
/// A clone is another handle to the same informers. They run until they are shut down or released, or until the last
/// handle to them and to the factory is dropped.
#[derive(Clone)]
pub struct SharedInformerFactory {
    pub(super) shared: Arc<Shared>,
    pub(super) options: Arc<Options>,
}

/// The state that all views of a factory share.
pub(super) struct Shared {
    pub(super) client: kube::Client,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    is_running: bool,
    entries: BTreeMap<InformerKey, Arc<dyn AnyManagedInformer>>,
    /// Those that were released and may have tasks left.
    released: Vec<Arc<dyn AnyManagedInformer>>,
    transform_count: u64,
}

// === impl SharedInformerFactory ===

impl SharedInformerFactory {
    /// A factory over `client`, of all namespaces and all objects. It does nothing until it is [started](Self::start).
    ///
    /// Use a client made by [`http::client`](crate::http::client).
    #[doc(alias = "NewSharedInformerFactoryWithOptions")]
    pub fn new(client: kube::Client) -> Self {
        let mapper = RestMapper::new(client.clone());
        Self {
            shared: Arc::new(Shared {
                client,
                state: Mutex::default(),
            }),
            options: Arc::new(Options::new(mapper)),
        }
    }

    /// Returns a factory with the same client and options, and no informers yet.
    #[cfg(feature = "controller")]
    pub(crate) fn with_informers_of_its_own(&self) -> Self {
        Self {
            shared: Arc::new(Shared {
                client: self.shared.client.clone(),
                state: Mutex::default(),
            }),
            options: Arc::clone(&self.options),
        }
    }

    /// Starts every informer that was asked for and is not running. From now on, one that is asked for is started at once.
    ///
    /// A second call does nothing. After a [`shutdown`](Self::shutdown) each informer resumes, as after a long outage,
    /// with its cache, its indices and its handlers. The handlers are notified of what changed meanwhile, deletions
    /// included. A handler that was added in between receives everything. If the shutdown is not over, the informers
    /// resume when it is.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    #[doc(alias = "StartWithContext")]
    pub fn start(&self) {
        let mut state = self.shared.lock();
        state.is_running = true;
        for entry in state.entries.values() {
            entry.start();
        }
    }

    /// Waits until every informer that was asked for by now has its first whole state, at most for `limit`; those of all
    /// views, started or not. After a new start, a state that is no older.
    ///
    /// # Errors
    ///
    /// Names each informer that has not, with its last error. Waiting again is useful for those whose error can pass.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost if dropped.
    #[doc(alias = "WaitForCacheSyncWithContext")]
    pub async fn wait_for_cache_sync(&self, limit: Duration) -> Result<(), CacheSyncError> {
        let entries = self.shared.lock().entries.values().cloned().collect();
        wait_for_all(entries, limit).await
    }

    /// Ends and forgets every informer without a handle, and returns their number. Resolves when their handlers have
    /// received all pending notifications, and no task is left.
    ///
    /// A lister or a registration is not a handle, and neither is a handler that was
    /// [detached](super::ScopedRegistration::detach).
    ///
    /// # Cancel safety
    ///
    /// If dropped after its first poll, the informers still end, but the caller does not wait for them.
    pub async fn release_unused(&self) -> usize {
        let unused: Vec<_> = {
            let mut state = self.shared.lock();
            let is_unused = |entry: &Arc<dyn AnyManagedInformer>| {
                // The factory's own is the only one.
                Arc::strong_count(entry) == 1 && entry.is_unused()
            };
            let unused = state.entries.extract_if(.., |_, own| is_unused(own));
            let unused: Vec<_> = unused.map(|(_, entry)| entry).collect();
            state.released.extend(unused.iter().cloned());
            unused
        };
        self.drain(unused.iter().map(|entry| entry.end()).collect())
            .await;
        unused.len()
    }

    /// Stops every informer of all views, and resolves when their handlers have received all pending notifications, and
    /// no task is left. Every caller waits for all informers that are ending, also those that another caller stopped.
    ///
    /// Caches can still be read. The factory keeps its informers and their handlers; they resume when it is
    /// [started](Self::start) again.
    ///
    /// The shutdown takes as long as the slowest handler.
    ///
    /// # Cancel safety
    ///
    /// If dropped after its first poll, the informers still end, but the caller does not wait for them.
    pub async fn shutdown(&self) {
        let ends = {
            let mut state = self.shared.lock();
            state.is_running = false;
            let entries = state.entries.values().chain(&state.released);
            entries.map(|entry| entry.end()).collect()
        };
        self.drain(ends).await;
    }

    /// Returns the number of informers that the factory keeps, in all views.
    pub fn informer_count(&self) -> usize {
        self.shared.lock().entries.len()
    }

    /// Waits for what ends, and forgets what was released and has ended.
    async fn drain(&self, ends: Vec<BoxFuture<'static, ()>>) {
        join_all(ends).await;
        let drained: Vec<_> = {
            let mut state = self.shared.lock();
            let drained = state.released.extract_if(.., |own| own.is_drained());
            drained.collect()
        };
        // Outside the lock: code that runs when an informer is dropped may call the factory.
        drop(drained);
    }
}

impl fmt::Debug for SharedInformerFactory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.shared.lock();
        f.debug_struct("SharedInformerFactory")
            .field("is_running", &state.is_running)
            .field("informers", &state.entries.keys())
            .finish_non_exhaustive()
    }
}

// === impl Shared ===

impl Shared {
    /// The entry under `key`, or the one that `make` makes; with `observers`, and running if the factory is.
    pub(super) fn entry<K: Send + Sync + 'static>(
        &self,
        key: InformerKey,
        observers: &[Arc<dyn ReflectorObserver>],
        make: impl FnOnce(InformerKey) -> ManagedInformer<K>,
    ) -> Arc<ManagedInformer<K>> {
        let mut state = self.lock();
        let entry = if let Some(entry) = state.entries.get(&key) {
            let entry = Arc::clone(entry) as Arc<dyn Any + Send + Sync>;
            let entry = entry.downcast::<ManagedInformer<K>>();
            entry.expect("the key names the type")
        } else {
            let entry = Arc::new(make(key.clone()));
            state.entries.insert(key, Arc::clone(&entry) as _);
            entry
        };
        // Before the first request, if it begins now.
        for observer in observers {
            entry.add_observer(Arc::clone(observer));
        }
        if state.is_running {
            entry.start();
        }
        entry
    }

    pub(super) fn next_transform_id(&self) -> u64 {
        let mut state = self.lock();
        state.transform_count += 1;
        state.transform_count
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A start outside of a runtime panics while it holds the lock; what is kept is whole all the same.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
