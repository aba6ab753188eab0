//! Puts an informer together.

use std::{any::type_name, fmt, pin::Pin, sync::Arc};

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{
    CacheInput, SharedInformer,
    checker::{Checker, Relist},
    deletion_log::DeletionLog,
    handle::{Inner, UnstartedInformer},
    runner::Runner,
    state::State,
    stats::Observers,
    sync::EndGuard,
    transform::Transform,
};
use crate::{
    delta_fifo::{DeltaFifo, DeltaFifoOptions},
    handler::Filter,
    indexer::{IndexFn, Indexer, IndexerError, IndexerWriter},
    list_watch::ListWatch,
    processor::{Processor, metrics::Labels},
    reflector::{
        Decision, Failure, ListGate, Reflector, ReflectorControl, ReflectorObserver,
        ReflectorOptions,
    },
    shard::ShardFilter,
    store::ReflectorStore,
    task::TaskSet,
};
#[cfg(feature = "http")]
use crate::{
    http::{Encoding, HttpListWatch},
    shard::Shard,
};

/// Options of an informer, and where its objects come from. Made by [`SharedInformer::builder`].
#[must_use]
pub struct SharedInformerBuilder<K, L> {
    list_watch: L,
    plan: Plan<K>,
    reflector: ReflectorOptions,
    observer: Option<Arc<dyn ReflectorObserver>>,
    policy: Option<Box<Policy>>,
    gate: Option<ListGate>,
}

type Policy = dyn Fn(&Failure<'_>) -> Decision + Send + Sync;

/// All that is not the reflector's.
pub(super) struct Plan<K> {
    /// Its identity; the resource if `None`.
    pub(super) name: Option<Arc<str>>,
    pub(super) resource: Option<Arc<str>>,
    pub(super) fifo: DeltaFifoOptions,
    pub(super) indices: Vec<(Arc<str>, IndexFn<K>)>,
    pub(super) filter: Option<Filter<K>>,
    pub(super) transform: Transform<K>,
    /// Lists the present state again, for consistency checks.
    pub(super) relist: Option<Relist<K>>,
    pub(super) has_consistency_checks: bool,
    pub(super) previous: Option<SharedInformer<K>>,
    pub(super) shard: Option<Arc<ShardFilter>>,
}

/// The parts that a reflector is given.
pub(super) struct ReflectorParts<K> {
    pub(super) store: CacheInput<K>,
    pub(super) held: Indexer<K>,
    pub(super) observers: Vec<Arc<dyn ReflectorObserver>>,
    pub(super) control: ReflectorControl,
    pub(super) stop: CancellationToken,
}

// === impl SharedInformerBuilder ===

impl<K, L> SharedInformerBuilder<K, L>
where
    K: Send + Sync + 'static,
    L: ListWatch<K>,
{
    pub(super) fn new(list_watch: L) -> Self {
        Self {
            list_watch,
            plan: Plan::default(),
            reflector: ReflectorOptions::default(),
            observer: None,
            policy: None,
            gate: None,
        }
    }

    /// Sets the identity in logs and metrics, to distinguish it from others of the same resource; by default the
    /// resource's name.
    #[doc(alias = "Identifier")]
    pub fn with_name(mut self, name: impl Into<Arc<str>>) -> Self {
        self.plan.name = Some(name.into());
        self
    }

    /// Named `resource` in logs, metrics and errors; else what the [`ListWatch`] says.
    pub fn with_resource(mut self, resource: impl Into<Arc<str>>) -> Self {
        self.plan.resource = Some(resource.into());
        self
    }

    /// Lists, watches and backs off as `options` say.
    pub fn with_options(mut self, options: ReflectorOptions) -> Self {
        self.reflector = options;
        self
    }

    /// Queues as `options` say.
    pub fn with_queue(mut self, options: DeltaFifoOptions) -> Self {
        self.plan.fifo = options;
        self
    }

    /// Tells `observer` how the reflector is doing.
    pub fn with_observer(mut self, observer: Arc<dyn ReflectorObserver>) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Asks `policy` what to do about every failure; see [`Reflector::with_error_policy`].
    ///
    /// # Examples
    ///
    /// ```
    /// use informer::{Scope, SharedInformer, http::HttpListWatch, reflector::{FailureCause, Decision}};
    /// use k8s_openapi::api::core::v1::Pod;
    ///
    /// # fn example(client: kube::Client) {
    /// // Without permission this program is of no use: it ends instead of waiting for it.
    /// let pods = SharedInformer::builder(HttpListWatch::<Pod>::new(client, Scope::All))
    ///     .with_error_policy(|failure| match failure.cause {
    ///         FailureCause::Unauthorized | FailureCause::Forbidden => Decision::Stop,
    ///         _ => Decision::Default,
    ///     });
    /// # }
    /// ```
    #[doc(alias = "SetWatchErrorHandler")]
    pub fn with_error_policy(
        mut self,
        policy: impl Fn(&Failure<'_>) -> Decision + Send + Sync + 'static,
    ) -> Self {
        self.policy = Some(Box::new(policy));
        self
    }

    /// Waits for its turn at `gate` before it asks for a whole state: see [`ListGate`].
    pub fn with_list_gate(mut self, gate: ListGate) -> Self {
        self.gate = Some(gate);
        self
    }

    /// With an index of this name.
    pub fn with_index(mut self, name: impl Into<Arc<str>>, function: IndexFn<K>) -> Self {
        self.plan.indices.push((name.into(), function));
        self
    }

    /// Keeps only what `filter` accepts: an object that comes to be accepted is an add, one that ceases to be is a deletion,
    /// with the state that is not accepted.
    ///
    /// The filter sees objects as they arrive, before a transform. One for which it fails is treated as
    /// [`with_fallible_transform`](Self::with_fallible_transform) says; one that cannot be decoded is reported, wanted or not.
    pub fn with_filter(mut self, filter: Filter<K>) -> Self {
        self.plan.filter = Some(filter);
        self
    }

    /// In debug builds, compares the cache with the server after each list, as
    /// [`check_consistency`](SharedInformer::check_consistency) does, and reports differences in the log and in
    /// [`InformerMetrics::inconsistencies`](super::InformerMetrics). Off unless asked for: it doubles the lists.
    #[doc(alias = "KUBE_WATCHLIST_INCONSISTENCY_DETECTOR")]
    pub fn with_consistency_checks(mut self) -> Self {
        self.plan.has_consistency_checks = true;
        self
    }

    /// Changes each object once, after it was decoded and before any reader sees it, for example to drop unused fields.
    ///
    /// Key, uid, version, labels and owners of the handle stay as they arrived, even if the transform changes them. An
    /// object for which the transform panics is treated as [`with_fallible_transform`](Self::with_fallible_transform)
    /// says.
    ///
    /// # Memory
    ///
    /// The objects of a list are transformed when all of them have arrived: until then they are as large as they came.
    /// Managed fields take tens of kilobytes once they are decoded; those that
    /// [`without_fields`](crate::http::HttpListWatch::without_fields) leaves out never do.
    #[doc(alias = "SetTransform")]
    pub fn with_transform(self, transform: impl Fn(&mut K) + Send + Sync + 'static) -> Self
    where
        K: Clone,
    {
        self.with_fallible_transform(move |object| {
            transform(object);
            Ok::<_, std::convert::Infallible>(())
        })
    }

    /// The same with a transform that can fail.
    ///
    /// An object for which it fails is treated as one that cannot be decoded: it is reported by key
    /// ([`SharedInformer::undecodable`]), an older copy of it is removed from the cache and delivered as a tombstone,
    /// and the others are delivered. It is tried again when its next version or the next list comes.
    ///
    /// Keeping the older copy or failing the list are no options: the cache would no longer show all changes up to its
    /// version, on which [`SharedInformer::wait_until`] relies, or one object would stop all others.
    pub fn with_fallible_transform<F, E>(self, transform: F) -> Self
    where
        F: Fn(&mut K) -> Result<(), E> + Send + Sync + 'static,
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
        K: Clone,
    {
        self.with_transform_stage(Transform::new(transform))
    }

    pub(super) fn with_transform_stage(mut self, transform: Transform<K>) -> Self {
        self.plan.transform = transform;
        self
    }

    /// Makes this the successor of `previous`, which is stopping: with its cache and its indices, as after a long
    /// outage.
    ///
    /// The successor writes nothing before the last task of `previous` has ended.
    pub(crate) fn with_previous(mut self, previous: SharedInformer<K>) -> Self {
        self.plan.previous = Some(previous);
        self
    }

    /// The informer, not started.
    ///
    /// # Errors
    ///
    /// Two indices have the same name, or one is named as the one that every informer has.
    pub fn build(self) -> Result<SharedInformer<K>, IndexerError> {
        self.build_with(std::convert::identity)
    }

    /// Creates the informer, not started, with a layer between its reflector and its cache: to count changes, to delay them,
    /// or to test the consequences of faulty parts.
    ///
    /// The reflector writes to the store that `layer` returns, which writes to the [`CacheInput`] what it lets pass.
    ///
    /// # Errors
    ///
    /// As of [`build`](Self::build).
    #[cfg(feature = "unstable-stages")]
    pub fn build_through<S: ReflectorStore<K>>(
        self,
        layer: impl FnOnce(CacheInput<K>) -> S,
    ) -> Result<SharedInformer<K>, IndexerError> {
        self.build_with(layer)
    }

    fn build_with<S: ReflectorStore<K>>(
        self,
        layer: impl FnOnce(CacheInput<K>) -> S,
    ) -> Result<SharedInformer<K>, IndexerError> {
        let Self {
            list_watch,
            mut plan,
            reflector,
            observer,
            policy,
            gate,
        } = self;
        if plan.resource.is_none() {
            plan.resource = list_watch.resource().map(Arc::from);
        }
        plan.shard = list_watch.shard_filter();
        let list_watch = Arc::new(list_watch);
        plan.relist = Some(Relist::new(Arc::clone(&list_watch), reflector.page_size));
        plan.assemble(|mut seams| {
            seams.observers.extend(observer);
            let store = layer(seams.store);
            let mut reflector = Reflector::new(list_watch, store, reflector)
                .with_last_version(seams.held.resource_version())
                .with_held_objects(Arc::new(seams.held))
                .with_observer(Arc::new(Observers(seams.observers)))
                .with_control(seams.control);
            if let Some(policy) = policy {
                reflector = reflector.with_error_policy(policy);
            }
            if let Some(gate) = gate {
                reflector = reflector.with_list_gate(gate);
            }
            Box::pin(reflector.run(seams.stop))
        })
    }
}

#[cfg(feature = "http")]
impl<K: Send + Sync + 'static> SharedInformerBuilder<K, HttpListWatch<K>> {
    /// Holds only objects of this shard: see [`shard`](crate::shard).
    pub fn with_shard(mut self, shard: Shard) -> Self {
        self.list_watch = self.list_watch.with_shard(shard);
        self
    }
}

impl<K, L> fmt::Debug for SharedInformerBuilder<K, L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let indices = self.plan.indices.iter().map(|(name, _)| name);
        f.debug_struct("SharedInformerBuilder")
            .field("resource", &self.plan.resource)
            .field("indices", &indices.collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}

// === impl Plan ===

impl<K: Send + Sync + 'static> Plan<K> {
    /// Makes the stages and joins them; `reflector` makes what feeds them.
    pub(super) fn assemble(
        self,
        reflector: impl FnOnce(ReflectorParts<K>) -> Pin<Box<dyn Future<Output = ()> + Send>>,
    ) -> Result<SharedInformer<K>, IndexerError> {
        let mut writer = writer_after(self.previous.as_ref());
        for (name, function) in self.indices {
            writer.add_index(name, function)?;
        }
        let resource = self.resource.unwrap_or_else(short_type_name::<K>);
        let name = self.name.unwrap_or_else(|| Arc::clone(&resource));
        let labels = Labels::new(&name, &resource);
        let state = State::new(&name, resource, self.shard);
        let (producer, fifo) = DeltaFifo::channel(&self.fifo);
        let (commands, commands_rx) = mpsc::unbounded_channel();
        let tasks = TaskSet::new();
        let stop_reflector = tasks.stop_token().child_token();
        let control = ReflectorControl::new();
        let indexer = writer.reader();
        let queued_items = fifo.queued_items();
        let transform_failures = self.transform.failures.clone();
        let reflector = reflector(ReflectorParts {
            store: CacheInput::new(producer, self.filter.clone(), self.transform),
            held: indexer.clone(),
            observers: state.observers(),
            control: control.clone(),
            stop: stop_reflector.clone(),
        });
        let checker = self.relist.map(|relist| {
            Arc::new(Checker::new(
                relist,
                self.filter,
                indexer.clone(),
                state.clone(),
            ))
        });
        let runner = Runner {
            fifo,
            writer,
            processor: Processor::new().with_labels(labels),
            commands: commands_rx,
            deletions: DeletionLog::default(),
            state: state.clone(),
            previous: self.previous,
            _end: EndGuard(Arc::clone(&state.sync)),
        };
        Ok(SharedInformer::from_inner(Inner {
            name,
            indexer,
            state,
            checker,
            has_checks: self.has_consistency_checks && cfg!(debug_assertions),
            listeners: runner.processor.list(),
            queued_items,
            transform_failures,
            commands,
            unstarted: std::sync::Mutex::new(Some(UnstartedInformer { runner, reflector })),
            control,
            stop_reflector,
            tasks,
        }))
    }
}

#[cfg(feature = "http")]
impl<K> SharedInformerBuilder<K, HttpListWatch<K>> {
    /// Asks the server for objects in this encoding; see [`HttpListWatch::with_encoding`].
    #[doc(alias = "ContentType")]
    pub fn with_encoding(self, encoding: Encoding) -> Self {
        Self {
            list_watch: self.list_watch.with_encoding(encoding),
            ..self
        }
    }
}

/// The writer of a new cache, or of that of the informer before.
fn writer_after<K: Send + Sync + 'static>(
    previous: Option<&SharedInformer<K>>,
) -> IndexerWriter<K> {
    match previous {
        Some(previous) => IndexerWriter::succeeding(&previous.indexer()),
        None => IndexerWriter::new(),
    }
}

impl<K> Default for Plan<K> {
    fn default() -> Self {
        Self {
            name: None,
            resource: None,
            fifo: DeltaFifoOptions::default(),
            indices: Vec::new(),
            filter: None,
            transform: Transform::none(),
            relist: None,
            has_consistency_checks: false,
            previous: None,
            shard: None,
        }
    }
}

/// `Pod` of `k8s_openapi::api::core::v1::Pod`, with its parameters if it has any.
fn short_type_name<K>() -> Arc<str> {
    let name = type_name::<K>();
    let path_end = name.find('<').unwrap_or(name.len());
    let start = name[..path_end].rfind("::").map_or(0, |at| at + 2);
    name[start..].into()
}
