//! An informer with one handler.

use std::{fmt, time::Duration};

use super::{SharedInformer, SharedInformerBuilder, SyncError};
use crate::{
    handler::EventHandler,
    indexer::{Indexer, IndexerError},
    list_watch::ListWatch,
    processor::{HandlerOptions, HandlerRegistration},
};

/// An informer with one handler, which stays for as long as the informer.
///
/// It is a [`SharedInformer`] and the registration of its handler, kept together: the same stages, the same promises. client-go
/// calls the handler from the loop that writes the cache, so that a slow one holds both up; here it has a mailbox and a task of
/// its own.
///
/// The counterparts of client-go's `InformerOptions`:
///
/// | option | here |
/// |---|---|
/// | `ListerWatcher`, `ObjectType`, `Handler` | the arguments |
/// | `ResyncPeriod` | [`HandlerOptions::with_resync_period`] |
/// | `Indexers` | [`SharedInformerBuilder::with_index`]; the namespace index is there by default |
/// | `Transform` | [`SharedInformerBuilder::with_transform`] |
/// | `MinWatchTimeout`, `WatchListPageSize` | [`ReflectorOptions`](crate::reflector::ReflectorOptions) by [`SharedInformerBuilder::with_options`] |
/// | `Identifier`, the handler's name | [`SharedInformerBuilder::with_resource`], [`HandlerOptions::with_name`] |
/// | the watch's error handler | the builder's |
///
/// # Examples
///
/// ```
/// use std::time::Duration;
///
/// use informer::{HandlerFuncs, HandlerOptions, IndexFn, Informer, Scope, SharedInformer, http::HttpListWatch};
/// use k8s_openapi::api::core::v1::Namespace;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let client = fakeserver::FakeServer::builder().build().client();
/// let namespaces = HttpListWatch::<Namespace>::new(client, Scope::All);
/// let informer = Informer::with_options(
///     SharedInformer::builder(namespaces).with_index("phase", IndexFn::by_field(".status.phase")?),
///     HandlerFuncs::new().with_add(|namespace, _| println!("{}", namespace.key())),
///     HandlerOptions::default().with_resync_period(Duration::from_secs(600)),
/// )?;
/// informer.start();
/// informer.wait_for_cache_sync(Duration::from_secs(10)).await?;
/// assert!(!informer.indexer().by_index("phase", "Active")?.is_empty());
/// informer.shutdown().await;
/// # Ok(())
/// # }
/// ```
#[doc(alias = "NewInformerWithOptions")]
#[doc(alias = "NewInformer")]
#[doc(alias = "InformerOptions")]
pub struct Informer<K> {
    shared: SharedInformer<K>,
    registration: HandlerRegistration,
}

// === impl Informer ===

impl<K: Send + Sync + 'static> Informer<K> {
    /// Creates an informer of what `list_watch` lists and watches, which notifies `handler`. It does nothing until it
    /// is [started](Self::start).
    pub fn new(list_watch: impl ListWatch<K>, handler: impl EventHandler<K>) -> Self {
        let builder = SharedInformer::builder(list_watch);
        Self::with_options(builder, handler, HandlerOptions::default())
            .expect("no index is added, so that none has a name that is taken")
    }

    /// The same with the options of an informer and those of its handler.
    ///
    /// # Errors
    ///
    /// Two indices have the same name, or one is named as the one that every informer has.
    pub fn with_options<L: ListWatch<K>>(
        builder: SharedInformerBuilder<K, L>,
        handler: impl EventHandler<K>,
        options: HandlerOptions,
    ) -> Result<Self, IndexerError> {
        let shared = builder.build()?;
        let registration = shared.add_handler_with(handler, options);
        Ok(Self {
            shared,
            registration,
        })
    }

    /// Begins to list and watch, and to call the handler. A second call, or one after the end, does nothing.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn start(&self) {
        self.shared.start();
    }

    /// Returns true if the handler has handled all of the first whole state.
    pub fn has_synced(&self) -> bool {
        self.registration.has_synced()
    }

    /// Waits until the first whole state is in the cache and on its way to the handler, at most for `limit`.
    ///
    /// # Errors
    ///
    /// As of [`SharedInformer::wait_for_cache_sync`].
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost if dropped. Any number of tasks may wait; all of them are woken.
    pub async fn wait_for_cache_sync(&self, limit: Duration) -> Result<(), SyncError> {
        self.shared.wait_for_cache_sync(limit).await
    }

    /// Reads by key and by index.
    #[doc(alias = "Store")]
    pub fn indexer(&self) -> Indexer<K> {
        self.shared.indexer()
    }

    /// The informer itself, for all else: listers, indices, waits, metrics.
    pub fn shared(&self) -> &SharedInformer<K> {
        &self.shared
    }

    /// Returns the registration of the handler.
    pub fn registration(&self) -> &HandlerRegistration {
        &self.registration
    }

    /// Stops listing and watching, delivers all pending notifications to the handler, and resolves when no task is
    /// left.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the informer still ends, but the caller does not wait for it.
    pub async fn shutdown(&self) {
        self.shared.shutdown().await;
    }
}

impl<K> fmt::Debug for Informer<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Informer")
            .field("shared", &self.shared)
            .field("registration", &self.registration)
            .finish()
    }
}
