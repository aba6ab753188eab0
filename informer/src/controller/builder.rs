//! The parts of a controller, one after another.

use std::{
    fmt,
    future::Future,
    marker::PhantomData,
    sync::{Arc, OnceLock},
    time::Duration,
};

use kube::{Client, Resource};
use serde::de::DeserializeOwned;

use super::{
    ConsistencyGate, ExternalSource, Finalizer, Predicate, Runnable,
    context::{Context, Listers, Parts},
    driver::Reconciler,
    error::BoxError,
    runnable::{AttachSource, CacheSource, FollowedCache, PreparedController},
};
use crate::{
    factory::{ScopedInformer, is_namespaced},
    handler::{EventHandler, Notification},
    object::{Object, ObjectKey},
    workqueue::{
        Action, Enqueue, OwnerKind, RateLimiter, WorkQueue, WorkQueueOptions, Workers,
        WorkersOptions,
    },
};

/// The longest wait of a reconcile for its own writes, unless an option sets another.
const GATE_LIMIT: Duration = Duration::from_secs(10);
/// The longest reconcile, unless an option sets another: a request that is never answered would keep its key for ever.
const TIMEOUT: Duration = Duration::from_mins(2);

/// A kind that a controller can follow: any `kube::Resource` that can be decoded.
#[diagnostic::on_unimplemented(
    message = "a controller cannot follow `{Self}`",
    label = "no `kube::Resource` that can be decoded and cloned",
    note = "a custom resource is what `#[derive(kube::CustomResource)]` makes of its spec"
)]
pub trait ControllerKind:
    Resource<DynamicType: Default> + DeserializeOwned + Clone + Send + Sync + 'static
{
}

/// A controller of the kind `K` in the making. [`reconcile`](Self::reconcile) completes it.
///
/// The [module](super) has an example and the promises.
#[doc(alias = "NewControllerManagedBy")]
#[doc(alias = "Builder")]
#[must_use = "it is completed by `reconcile`, and run by a `Manager`"]
pub struct Controller<K> {
    name: Arc<str>,
    predicate: Predicate<K>,
    sources: Vec<Follow<K>>,
    finalizer: Option<Finalizer>,
    external: Vec<ExternalSource>,
    workers: WorkersOptions,
    queue: WorkQueueOptions<ObjectKey>,
    gate_limit: Duration,
}

/// Asks a factory for the cache of a kind.
type Follow<K> = Box<dyn FnOnce(&mut FollowedKinds<'_, K>) + Send>;

/// The kinds that a controller follows, and their caches.
struct FollowedKinds<'a, K> {
    client: &'a Client,
    source: &'a CacheSource,
    kind: PhantomData<fn() -> K>,
    listers: Listers,
    gate: ConsistencyGate,
    caches: Vec<Arc<dyn FollowedCache>>,
    sources: Vec<AttachSource>,
}

/// A handler that receives what satisfies a predicate.
struct PredicateHandler<K, H> {
    predicate: Predicate<K>,
    handler: H,
}

// === impl ControllerKind ===

impl<K> ControllerKind for K where
    K: Resource<DynamicType: Default> + DeserializeOwned + Clone + Send + Sync + 'static
{
}

// === impl Controller ===

impl<K: ControllerKind> Controller<K> {
    /// Creates a controller by its name, which logs and metrics have, and by which the server remembers the fields that it applies.
    ///
    /// The controller works on one key at a time, for two minutes at most.
    #[doc(alias = "For")]
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        let name = name.into();
        Self {
            predicate: Predicate::spec_changed(),
            sources: Vec::new(),
            finalizer: None,
            external: Vec::new(),
            workers: WorkersOptions::new(1).with_timeout(TIMEOUT),
            queue: WorkQueueOptions::controller_runtime(),
            gate_limit: GATE_LIMIT,
            name,
        }
    }

    /// Wakes the owner when an object of a kind changes that an object of `K` controls.
    #[doc(alias = "Owns")]
    pub fn owns<T: ControllerKind>(self) -> Self {
        self.owns_if::<T>(Predicate::any())
    }

    /// Does the same for changes that satisfy a predicate.
    pub fn owns_if<T: ControllerKind>(self, predicate: Predicate<T>) -> Self {
        self.follow(move |followed| {
            let kind = K::DynamicType::default();
            let owner = OwnerKind::new(K::group(&kind), K::kind(&kind));
            let owner = if is_namespaced::<K>() {
                owner
            } else {
                owner.with_cluster_scope()
            };
            followed.source::<T, _>(predicate, move |queue| Enqueue::for_owner(queue, owner));
        })
    }

    /// Wakes the keys that a function makes of an object, when it changes; of an update, those of the old and the new object.
    #[doc(alias = "Watches")]
    pub fn watches<T, I>(self, leads_to: impl Fn(&Object<T>) -> I + Send + 'static) -> Self
    where
        T: ControllerKind,
        I: IntoIterator<Item = ObjectKey>,
    {
        self.watches_if(Predicate::any(), leads_to)
    }

    /// Does the same for changes that satisfy a predicate.
    pub fn watches_if<T, I>(
        self,
        predicate: Predicate<T>,
        leads_to: impl Fn(&Object<T>) -> I + Send + 'static,
    ) -> Self
    where
        T: ControllerKind,
        I: IntoIterator<Item = ObjectKey>,
    {
        self.follow(move |followed| {
            followed.source::<T, _>(predicate, move |queue| Enqueue::with(queue, leads_to));
        })
    }

    /// Reconciles the keys that a source from outside tells, too.
    #[doc(alias = "WatchesRawSource")]
    pub fn woken_by(mut self, source: &ExternalSource) -> Self {
        self.external.push(source.clone());
        self
    }

    /// Keeps a cache of a kind without waking the controller at its changes.
    pub fn reads<T: ControllerKind>(self) -> Self {
        self.follow(|followed| {
            followed.cache::<T>();
        })
    }

    /// Reconciles an object of `K` only for changes that satisfy a predicate, in place of [`Predicate::spec_changed`].
    #[doc(alias = "WithEventFilter")]
    pub fn with_predicate(mut self, predicate: Predicate<K>) -> Self {
        self.predicate = predicate;
        self
    }

    /// Puts a finalizer on each object before its first reconcile, and takes it off when a reconcile of the object that is about to
    /// be deleted ([`Context::is_cleanup`]) returns `Action::AwaitChange`.
    ///
    /// An object that is about to be deleted and lacks the finalizer is not reconciled.
    pub fn with_finalizer(mut self, name: impl Into<Arc<str>>) -> Self {
        self.finalizer = Some(Finalizer::new(name));
        self
    }

    /// Works on up to `count` keys at a time, one at least; each of them is in one worker's hands.
    #[doc(alias = "MaxConcurrentReconciles")]
    pub fn with_workers(mut self, count: usize) -> Self {
        self.workers = self.workers.with_count(count);
        self
    }

    /// Drops a reconcile that takes longer, which counts as a failure; two minutes by default.
    #[doc(alias = "ReconciliationTimeout")]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.workers = self.workers.with_timeout(timeout);
        self
    }

    /// Lets `limiter` decide how long a failed key waits.
    pub fn with_rate_limiter(mut self, limiter: impl RateLimiter<ObjectKey> + 'static) -> Self {
        self.queue = self.queue.with_rate_limiter(limiter);
        self
    }

    /// Sets the time limit of the wait for one's own writes, after which a reconcile counts as failed; 10 s by default.
    pub fn with_gate_limit(mut self, limit: Duration) -> Self {
        self.gate_limit = limit;
        self
    }

    /// Completes the controller by its function, which brings the cluster to the state that the object of a key asks for, whatever
    /// has happened. It is called for objects that are gone, too: [`Context::object`] is `None` then.
    #[doc(alias = "Reconciler")]
    pub fn reconcile<F, R, E>(self, function: F) -> Runnable
    where
        F: Fn(Context<K>, ObjectKey) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Action, E>> + Send + 'static,
        E: Into<BoxError> + 'static,
    {
        let name = Arc::clone(&self.name);
        Runnable {
            name,
            prepare: Box::new(move |client, caches| self.prepare(client, caches, function)),
        }
    }

    fn prepare<F, R, E>(
        self,
        client: &Client,
        source: &CacheSource,
        function: F,
    ) -> PreparedController
    where
        F: Fn(Context<K>, ObjectKey) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Action, E>> + Send + 'static,
        E: Into<BoxError> + 'static,
    {
        let mut followed = FollowedKinds {
            client,
            source,
            kind: PhantomData,
            listers: Listers::default(),
            gate: ConsistencyGate::new(),
            caches: Vec::new(),
            sources: Vec::new(),
        };
        followed.source::<K, _>(self.predicate, Enqueue::for_object);
        for follow in self.sources {
            follow(&mut followed);
        }
        let reconciler = Arc::new(Reconciler {
            parts: Arc::new(Parts {
                client: client.clone(),
                controller: Arc::clone(&self.name),
                cluster: source.cluster(),
                listers: followed.listers,
                gate: followed.gate,
                recorder: OnceLock::new(),
            }),
            finalizer: self.finalizer,
            gate_limit: self.gate_limit,
            shard: source.shard(),
            function,
        });
        let options = self.workers;
        let name = match source.cluster() {
            Some(cluster) => format!("{}@{cluster}", self.name).into(),
            None => self.name,
        };
        let queue = WorkQueue::with_options(self.queue.with_name(Arc::clone(&name)));
        for external in &self.external {
            external.attach(&queue);
        }
        PreparedController {
            name,
            queue,
            caches: followed.caches,
            sources: followed.sources,
            work: Box::new(move |queue| {
                Workers::start(queue, options, move |key| {
                    let reconciler = Arc::clone(&reconciler);
                    async move { reconciler.reconcile::<K, R, E>(key).await }
                })
            }),
        }
    }

    fn follow(mut self, follow: impl FnOnce(&mut FollowedKinds<'_, K>) + Send + 'static) -> Self {
        self.sources.push(Box::new(follow));
        self
    }
}

impl<K> fmt::Debug for Controller<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Controller")
            .field("name", &self.name)
            .field("finalizer", &self.finalizer)
            .field("workers", &self.workers)
            .finish_non_exhaustive()
    }
}

// === impl FollowedKinds ===

impl<K: ControllerKind> FollowedKinds<'_, K> {
    /// Follows a kind, and queues what its changes lead to.
    fn source<T, H>(
        &mut self,
        predicate: Predicate<T>,
        handler: impl FnOnce(&WorkQueue<ObjectKey>) -> H + Send + 'static,
    ) where
        T: ControllerKind,
        H: EventHandler<T>,
    {
        let informers = self.cache::<T>();
        self.sources.push(Box::new(move |queue| {
            let handler = handler(queue);
            informers.add_handler(PredicateHandler { predicate, handler })
        }));
    }

    fn cache<T: ControllerKind>(&mut self) -> ScopedInformer<T> {
        let informers = self.source.cache::<K, T>();
        if self.listers.get::<T>().is_none() {
            self.listers.add(informers.lister());
            self.gate.add_scoped(self.client, &informers);
            self.caches.push(Arc::new(informers.clone()));
        }
        informers
    }
}

// === impl PredicateHandler ===

impl<K: Send + Sync + 'static, H: EventHandler<K>> EventHandler<K> for PredicateHandler<K, H> {
    fn on_notification(&mut self, notification: &Notification<K>) {
        if self.predicate.holds(notification) {
            self.handler.on_notification(notification);
        }
    }
}
