//! Controllers of any kind, ready to run: prepared with caches, then started.

use std::{
    any::TypeId,
    fmt,
    sync::{Arc, Weak},
    time::Duration,
};

use futures::future::{BoxFuture, FutureExt, join_all};
use kube::Client;
use tokio::time::Instant;

use super::ControllerKind;
use crate::{
    factory::{
        CacheSyncError, ScopedInformer, ScopedRegistration, SharedInformerFactory, is_namespaced,
    },
    leader_election::Fence,
    object::ObjectKey,
    processor::{HandlerRegistration, ListenerMetrics},
    shard::{Shard, ShardField},
    shared_informer::{ConsistencyError, WaitError},
    workqueue::{WorkQueue, Workers},
};

/// A controller that has its reconcile function, to be run by a [`Manager`](crate::manager::Manager).
pub struct Runnable {
    pub(super) name: Arc<str>,
    pub(super) prepare: Prepare,
}

/// A controller whose caches are asked for. Nothing wakes it yet.
pub(crate) struct PreparedController {
    pub(super) name: Arc<str>,
    pub(super) queue: WorkQueue<ObjectKey>,
    pub(super) caches: Vec<Arc<dyn FollowedCache>>,
    pub(super) sources: Vec<AttachSource>,
    pub(super) work: StartWorkers,
}

/// Asks for the caches of a controller.
pub(super) type Prepare = Box<dyn FnOnce(&Client, &CacheSource) -> PreparedController + Send>;

/// Starts the workers of a controller.
pub(super) type StartWorkers = Box<dyn FnOnce(&WorkQueue<ObjectKey>) -> Workers<ObjectKey> + Send>;

/// Adds the handler of a source, which queues keys.
pub(super) type AttachSource = Box<dyn FnOnce(&WorkQueue<ObjectKey>) -> ScopedRegistration + Send>;

/// The factories from which controllers get their caches.
#[derive(Clone, Debug)]
pub(crate) struct CacheSource {
    whole: SharedInformerFactory,
    /// The shard of the objects that are reconciled, and the factory of what is in it.
    shard: Option<(OwnedShard, SharedInformerFactory)>,
    /// The name of the cluster, if it is one of several.
    cluster: Option<Arc<str>>,
}

/// A shard, and the right to reconcile its objects.
#[derive(Clone, Debug)]
pub(crate) struct OwnedShard {
    pub(crate) shard: Shard,
    pub(crate) fence: Fence,
}

/// A controller at work.
pub(crate) struct Running {
    name: Arc<str>,
    workers: Workers<ObjectKey>,
    registrations: Vec<ScopedRegistration>,
    activity: Activity,
}

/// The activity of a controller, as others can see it.
#[derive(Clone)]
pub(crate) struct Activity {
    queue: WorkQueue<ObjectKey>,
    /// Weak, since a strong one would keep its handler from being removed.
    handlers: Vec<Weak<HandlerRegistration>>,
    caches: Vec<Arc<dyn FollowedCache>>,
}

/// A cache that a controller follows.
pub(crate) trait FollowedCache: Send + Sync {
    /// Completes when the cache has its first whole state.
    fn wait_for_sync(&self, limit: Duration) -> BoxFuture<'_, Result<(), CacheSyncError>>;

    /// Completes when the cache is as new as the server is at the call.
    fn catch_up(&self, limit: Duration) -> BoxFuture<'_, Result<(), CatchUpError>>;
}

/// A cache that is not as new as the server. Trying again is useful.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CatchUpError {
    #[error(transparent)]
    Version(#[from] ConsistencyError),
    #[error(transparent)]
    Wait(#[from] WaitError),
}

// === impl Runnable ===

impl Runnable {
    /// Returns the name of the controller.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Asks for the caches.
    pub(crate) fn prepare(self, client: &Client, caches: &CacheSource) -> PreparedController {
        (self.prepare)(client, caches)
    }
}

impl fmt::Debug for Runnable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runnable")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

// === impl CacheSource ===

impl CacheSource {
    /// Creates a source of whole caches.
    pub(crate) fn new(whole: SharedInformerFactory) -> Self {
        Self {
            whole,
            shard: None,
            cluster: None,
        }
    }

    /// Says of which of several clusters the caches are.
    pub(crate) fn in_cluster(mut self, name: Option<Arc<str>>) -> Self {
        self.cluster = name;
        self
    }

    /// Creates a source of the caches of a shard, which run at once, and end with the source and what was taken from it.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub(crate) fn of_shard(whole: SharedInformerFactory, shard: OwnedShard) -> Self {
        let own = whole.with_informers_of_its_own().with_shard(shard.shard);
        own.start();
        Self {
            whole,
            shard: Some((shard, own)),
            cluster: None,
        }
    }

    pub(super) fn shard(&self) -> Option<OwnedShard> {
        self.shard.as_ref().map(|(shard, _)| shard.clone())
    }

    pub(super) fn cluster(&self) -> Option<Arc<str>> {
        self.cluster.clone()
    }

    /// Ends the caches of the shard.
    pub(crate) async fn shutdown(&self) {
        if let Some((_, own)) = &self.shard {
            own.shutdown().await;
        }
    }

    /// Returns the cache of a kind for a controller of objects of `K`: whole, unless what `K` owns is in its shard.
    pub(super) fn cache<K: ControllerKind, T: ControllerKind>(&self) -> ScopedInformer<T> {
        let is_own = TypeId::of::<K>() == TypeId::of::<T>();
        match &self.shard {
            Some((owned, own)) if is_own || is_together::<K, T>(owned.shard.field()) => {
                own.informer_for::<T>()
            }
            _ => self.whole.informer_for::<T>(),
        }
    }
}

/// Returns true if objects of `T` are in the shard of the object of `K` in whose namespace they are.
fn is_together<K: ControllerKind, T: ControllerKind>(field: ShardField) -> bool {
    field == ShardField::Namespace && is_namespaced::<K>() && is_namespaced::<T>()
}

// === impl PreparedController ===

impl PreparedController {
    pub(crate) fn caches(&self) -> &[Arc<dyn FollowedCache>] {
        &self.caches
    }

    /// Attaches the sources, then starts the workers.
    pub(crate) fn start(self) -> Running {
        let sources = self.sources.into_iter();
        let registrations: Vec<_> = sources.map(|attach| attach(&self.queue)).collect();
        let handlers = registrations
            .iter()
            .flat_map(ScopedRegistration::registrations);
        let handlers = handlers.map(|handler| Arc::downgrade(&handler)).collect();
        let workers = (self.work)(&self.queue);
        Running {
            name: self.name,
            workers,
            registrations,
            activity: Activity {
                queue: self.queue,
                handlers,
                caches: self.caches,
            },
        }
    }
}

// === impl Running ===

impl Running {
    pub(crate) fn name(&self) -> &Arc<str> {
        &self.name
    }

    pub(crate) fn activity(&self) -> Activity {
        self.activity.clone()
    }

    /// Hears nothing new, works off what is queued, and ends; false if that took longer than `limit`: the rest is dropped.
    pub(crate) async fn shutdown(self, limit: Duration) -> bool {
        let drained = async move {
            join_all(
                self.registrations
                    .into_iter()
                    .map(ScopedRegistration::remove),
            )
            .await;
            self.workers.shutdown().await;
        };
        tokio::time::timeout(limit, drained).await.is_ok()
    }

    /// Ends at once: reconciles under way are dropped.
    pub(crate) async fn abort(self) {
        self.workers.abort().await;
        join_all(
            self.registrations
                .into_iter()
                .map(ScopedRegistration::remove),
        )
        .await;
    }
}

// === impl Activity ===

impl Activity {
    /// Returns true if nothing is queued or in flight, nothing that failed waits to be tried again, and nothing is due within `horizon`.
    pub(crate) fn is_idle(&self, horizon: Duration) -> bool {
        let soon = Instant::now() + horizon;
        let is_due =
            |(key, due): &(ObjectKey, Instant)| *due <= soon || self.queue.num_requeues(key) > 0;
        self.queue.is_empty()
            && self.queue.processing_len() == 0
            && !self.queue.delayed().iter().any(is_due)
            && self.handlers().all(|handler| handler.pending == 0)
    }

    /// Returns how many notifications were received.
    pub(crate) fn received(&self) -> u64 {
        self.handlers().map(|handler| handler.delivered).sum()
    }

    fn handlers(&self) -> impl Iterator<Item = ListenerMetrics> {
        let handlers = self.handlers.iter().filter_map(Weak::upgrade);
        handlers.map(|handler| handler.metrics())
    }

    pub(crate) fn caches(&self) -> &[Arc<dyn FollowedCache>] {
        &self.caches
    }
}

// === impl FollowedCache ===

impl<K: Send + Sync + 'static> FollowedCache for ScopedInformer<K> {
    fn wait_for_sync(&self, limit: Duration) -> BoxFuture<'_, Result<(), CacheSyncError>> {
        self.wait_for_cache_sync(limit).boxed()
    }

    fn catch_up(&self, limit: Duration) -> BoxFuture<'_, Result<(), CatchUpError>> {
        let informers: Vec<_> = self.informers().collect();
        let catch_up = async move {
            for informer in informers {
                let version = informer.latest_version(limit).await?;
                informer.wait_until(&version, limit).await?;
            }
            Ok(())
        };
        catch_up.boxed()
    }
}
