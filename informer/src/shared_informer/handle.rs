//! The handle of one informer.

use std::{
    fmt,
    sync::{Arc, Mutex},
    time::Duration,
};

use futures::future::BoxFuture;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::{
    InformerMetrics, SharedInformerBuilder, StatusStream, SyncError, SyncStatus,
    checker::Checker,
    runner::{Command, IndexEdit, Runner},
    state::State,
};
#[cfg(feature = "http")]
use crate::http::{HttpListWatch, Scope};
use crate::{
    counter::{Counter, Gauge},
    handler::EventHandler,
    indexer::{IndexFn, Indexer, IndexerError},
    list_watch::ListWatch,
    lister::Lister,
    object::{DecodeError, ResourceVersion},
    processor::{HandlerOptions, HandlerRegistration, Listener, ListenerList},
    reflector::ReflectorControl,
    shard::ShardStatus,
    store::Store,
    task::TaskSet,
};

/// A local, indexed copy of one resource's objects that follows the server, shared by any number of handlers and readers.
///
/// A clone is another handle to the same informer. Dropping the last handle stops it; listers and indexers still show what
/// it held, but do not keep it running.
///
/// An informer is started once and not again after it stopped.
#[doc(alias = "SharedIndexInformer")]
#[doc(alias = "TypedSharedIndexInformer")]
pub struct SharedInformer<K>(pub(super) Arc<Inner<K>>);

pub(super) struct Inner<K> {
    pub(super) name: Arc<str>,
    pub(super) indexer: Indexer<K>,
    pub(super) state: State,
    /// None if the reflector is not fed by a `ListWatch`.
    pub(super) checker: Option<Arc<Checker>>,
    /// True if each list is checked.
    pub(super) has_checks: bool,
    pub(super) listeners: ListenerList,
    pub(super) queued_items: Gauge,
    pub(super) transform_failures: Counter,
    pub(super) commands: mpsc::UnboundedSender<Command<K>>,
    /// The tasks to run; taken by the start or the end.
    pub(super) unstarted: Mutex<Option<UnstartedInformer<K>>>,
    pub(super) control: ReflectorControl,
    pub(super) stop_reflector: CancellationToken,
    /// Ends all tasks with the last handle.
    pub(super) tasks: TaskSet,
}

pub(super) struct UnstartedInformer<K> {
    pub(super) runner: Runner<K>,
    pub(super) reflector: BoxFuture<'static, ()>,
}

// === impl SharedInformer ===

#[cfg(feature = "http")]
impl<K> SharedInformer<K>
where
    K: kube::Resource<DynamicType: Default> + serde::de::DeserializeOwned + Send + Sync + 'static,
{
    /// Creates an informer of all objects of a type in `scope`, over `client`. It does nothing until it is [started](Self::start).
    ///
    /// See [`builder`](Self::builder) for selectors, indices, transforms and types that are known at run time only.
    pub fn new(client: kube::Client, scope: Scope) -> Self {
        Self::builder(HttpListWatch::new(client, scope))
            .build()
            .expect("no index is added, so that none has a name that is taken")
    }
}

impl<K: Send + Sync + 'static> SharedInformer<K> {
    /// An informer of what `list_watch` lists and watches.
    pub fn builder<L: ListWatch<K>>(list_watch: L) -> SharedInformerBuilder<K, L> {
        SharedInformerBuilder::new(list_watch)
    }

    pub(super) fn from_inner(inner: Inner<K>) -> Self {
        Self(Arc::new(inner))
    }

    /// Begins to list and watch, and to call the handlers. A second call, or one after the end, does nothing.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    #[doc(alias = "RunWithContext")]
    pub fn start(&self) {
        let Some(UnstartedInformer { runner, reflector }) = self.take_unstarted() else {
            return;
        };
        self.0.state.sync.mark_started();
        let span = tracing::info_span!(
            "informer",
            resource = %self.0.state.sync.resource(),
            name = %self.0.name,
        );
        span.in_scope(|| tracing::info!("informer started"));
        let runner = runner.run(self.0.tasks.spawner());
        self.0.tasks.spawn(runner.instrument(span.clone()));
        // The reflector comes last: what it writes finds a reader, and the first list is checked.
        let checker = self.0.checker.as_ref().filter(|_| self.0.has_checks);
        if let Some(checker) = checker.map(Arc::clone) {
            let checks = checker.run(self.0.stop_reflector.clone());
            self.0.tasks.spawn(checks.instrument(span.clone()));
        }
        self.0.tasks.spawn(reflector.instrument(span));
    }

    /// Attaches a listener now, or lets the writer do it.
    pub(super) fn attach(&self, listener: Listener<K>) {
        if let Some(unstarted) = &mut *self.lock_unstarted() {
            unstarted.runner.attach(listener);
            return;
        }
        // If the informer has stopped, the listener comes back and is dropped, which ends its registration.
        drop(self.0.commands.send(Command::AddListener(listener)));
    }

    /// Adds a handler that knows the held objects, from the informer that this one
    /// [succeeds](SharedInformerBuilder::with_previous). Only before the start.
    pub(crate) fn resume_handler(
        &self,
        handler: impl EventHandler<K>,
        options: HandlerOptions,
    ) -> HandlerRegistration {
        let (listener, registration) = Listener::new(handler, options);
        if let Some(unstarted) = &mut *self.lock_unstarted() {
            unstarted.runner.resume(listener);
        }
        registration
    }

    /// Adds an index over what is held and what will be, at any time. It can be asked as soon as this resolves.
    ///
    /// # Errors
    ///
    /// The name is taken; nothing was changed. Or the informer has stopped.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the index may be added all the same.
    #[doc(alias = "AddIndexers")]
    pub async fn add_index(
        &self,
        name: impl Into<Arc<str>>,
        function: IndexFn<K>,
    ) -> Result<(), EditIndexError> {
        self.edit_indices(IndexEdit::Add(name.into(), function))
            .await
    }

    /// Removes an index, at any time. Snapshots that are held still have it.
    ///
    /// # Errors
    ///
    /// There is no such index, or it is the one that every informer has; nothing was changed. Or the informer has stopped.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the index may be removed all the same.
    pub async fn remove_index(&self, name: &str) -> Result<(), EditIndexError> {
        self.edit_indices(IndexEdit::Remove(name.into())).await
    }

    /// Waits until the first whole state is in the cache and on its way to the handlers, at most for `limit`.
    ///
    /// # Errors
    ///
    /// Not within `limit`: the error names the phase, the last failure and how many there were. Or never, since the informer
    /// stopped before.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost if dropped. Any number of tasks may wait; all of them are woken.
    #[doc(alias = "WaitForNamedCacheSyncWithContext")]
    pub async fn wait_for_cache_sync(&self, limit: Duration) -> Result<(), SyncError> {
        self.0.state.sync.wait(limit).await
    }

    /// Does the same without a handle, which would count.
    pub(crate) fn sync_wait(
        &self,
        limit: Duration,
    ) -> impl Future<Output = Result<(), SyncError>> + Send + 'static {
        let sync = Arc::clone(&self.0.state.sync);
        async move { sync.wait(limit).await }
    }

    /// Returns true if the first whole state is in the cache and on its way to the handlers.
    pub fn has_synced(&self) -> bool {
        self.0.state.sync.has_synced()
    }

    /// Returns the progress of the informer and its last failure, at any time.
    pub fn status(&self) -> SyncStatus {
        self.0.state.sync.status()
    }

    /// Returns the status as a stream: the present one, then the latest whenever it has changed.
    pub fn status_stream(&self) -> StatusStream {
        self.0.state.sync.status_stream()
    }

    /// Returns the shard of which the informer holds the objects, and whether the server selects it; `None` if it is of all.
    pub fn shard_status(&self) -> Option<ShardStatus> {
        let filter = self.0.state.shard.as_ref()?;
        Some(filter.status())
    }

    /// Gives up the request or the watch in flight, and makes no other until [`resume`](Self::resume). The cache keeps
    /// what it holds, and handlers receive their pending notifications. Before the start, the informer begins with the
    /// pause.
    pub fn pause(&self) {
        self.0.control.pause();
    }

    /// Ends a pause of any cause, or a wait before the next attempt: the informer resumes at once, from the last
    /// version if the server still has the changes since.
    pub fn resume(&self) {
        self.0.control.resume();
    }

    /// Reads by name, namespace and label selector.
    pub fn lister(&self) -> Lister<K> {
        let sync = &self.0.state.sync;
        Lister::new(
            self.0.indexer.clone(),
            Arc::clone(sync.resource()),
            sync.started().clone(),
        )
    }

    /// Reads by key and by index.
    #[doc(alias = "GetIndexer")]
    pub fn indexer(&self) -> Indexer<K> {
        self.0.indexer.clone()
    }

    /// Reads by key.
    #[doc(alias = "GetStore")]
    pub fn store(&self) -> Arc<dyn Store<K>> {
        Arc::new(self.indexer())
    }

    /// The objects that exist on the server but cannot be decoded, in order of their keys. They are not in the cache.
    pub fn undecodable(&self) -> Vec<DecodeError> {
        self.0.indexer.undecodable()
    }

    /// The version at which the cache stands: every change up to it is visible.
    #[doc(alias = "LastSyncResourceVersion")]
    pub fn last_sync_resource_version(&self) -> ResourceVersion {
        self.0.indexer.resource_version()
    }

    /// Its identity in logs and metrics.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Returns the resource that the informer mirrors, as in `pods`.
    pub fn resource(&self) -> &str {
        self.0.state.sync.resource()
    }

    /// The numbers of the informer and of its handlers.
    pub fn metrics(&self) -> InformerMetrics {
        let State { stats, sync, .. } = &self.0.state;
        let snapshot = self.0.indexer.snapshot();
        InformerMetrics {
            resource: Arc::clone(sync.resource()),
            queued_items: self.0.queued_items.get(),
            objects: snapshot.len() as u64,
            undecodable: snapshot.undecodable().len() as u64,
            lists: stats.lists.get(),
            streaming_lists: stats.streaming_lists.get(),
            watches: stats.watches.get(),
            failures: stats.failures.get(),
            replacements: stats.replacements.get(),
            stale_versions: stats.stale_versions.get(),
            gone_back_versions: stats.gone_back_versions.get(),
            transform_failures: self.0.transform_failures.get(),
            inconsistencies: stats.inconsistencies.get(),
            out_of_shard: self.0.state.out_of_shard(),
            listeners: self.0.listeners.metrics(),
        }
    }

    /// Returns the number of tasks that have not ended: the reflector, the writer, and one for each handler.
    pub fn task_count(&self) -> usize {
        self.0.tasks.len()
    }

    /// Returns the number of handles to the informer, this one among them.
    pub(crate) fn handle_count(&self) -> usize {
        Arc::strong_count(&self.0)
    }

    /// Stops listing and watching, applies what was received, delivers all pending notifications to the handlers, and
    /// resolves when no task of the informer is left.
    ///
    /// The shutdown takes as long as the slowest handler. To stop at once, without the pending notifications, drop all handles.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the informer still ends, but the caller does not wait for it.
    pub async fn shutdown(&self) {
        // Dropped outside the lock, since it holds handlers.
        let unstarted = self.take_unstarted();
        drop(unstarted);
        // Only the reflector is stopped. Its end closes the queue, which ends the writer once the queue is empty, which
        // ends the handlers once they have received everything.
        self.0.stop_reflector.cancel();
        self.0.tasks.wait().await;
    }

    async fn edit_indices(&self, edit: IndexEdit<K>) -> Result<(), EditIndexError> {
        if let Some(unstarted) = &mut *self.lock_unstarted() {
            return Ok(unstarted.runner.edit_indices(edit)?);
        }
        let (reply, outcome) = oneshot::channel();
        // A command that is not taken drops the reply.
        drop(self.0.commands.send(Command::EditIndices { edit, reply }));
        Ok(outcome.await.map_err(|_| EditIndexError::Stopped)??)
    }

    fn take_unstarted(&self) -> Option<UnstartedInformer<K>> {
        self.lock_unstarted().take()
    }

    fn lock_unstarted(&self) -> std::sync::MutexGuard<'_, Option<UnstartedInformer<K>>> {
        self.0
            .unstarted
            .lock()
            .expect("nothing panics while it holds what is to run")
    }
}

impl<K> Clone for SharedInformer<K> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<K> fmt::Debug for SharedInformer<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedInformer")
            .field("resource", self.0.state.sync.resource())
            .field("status", &self.0.state.sync.status())
            .field("indexer", &self.0.indexer)
            .finish_non_exhaustive()
    }
}

/// An index could not be added or removed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EditIndexError {
    /// The name is taken, or there is no such index.
    #[error(transparent)]
    Indexer(#[from] IndexerError),
    /// The informer has stopped.
    #[error("the informer has stopped")]
    Stopped,
}
