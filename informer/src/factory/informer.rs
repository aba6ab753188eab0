//! The informers of one resource in a factory's scope, as one.

use std::{any::type_name, fmt, sync::Arc, time::Duration};

use super::{
    CacheSyncError, InformerConfig, ScopedLister, ScopedRegistration,
    handler_slot::{AnySlot, HandlerSlot, InformerSlot, SharedHandler},
    managed_informer::{AnyManagedInformer, ManagedInformer, wait_for_all},
};
use crate::{
    discovery::GroupVersionResource,
    handler::EventHandler,
    indexer::IndexFn,
    processor::HandlerOptions,
    shared_informer::{EditIndexError, SharedInformer},
};

/// The informers of one resource in the scope of a factory, to be used as one: one informer, or one a namespace.
///
/// The handle stays valid when the factory is shut down and started again, and so do its listers and registrations: they show
/// what was held last, and resume from it.
///
/// While a handle is held, [`release_unused`](super::SharedInformerFactory::release_unused) leaves its informers running.
/// Listers and registrations are not handles. A handler that holds a handle of its own informer keeps it for ever: give it
/// a lister.
#[doc(alias = "GenericInformer")]
pub struct ScopedInformer<K> {
    resource: GroupVersionResource,
    resync_period: Option<Duration>,
    /// In order of their scopes.
    entries: Vec<Arc<ManagedInformer<K>>>,
}

// === impl ScopedInformer ===

impl<K: Send + Sync + 'static> ScopedInformer<K> {
    pub(super) fn new(
        resource: GroupVersionResource,
        resync_period: Option<Duration>,
        entries: Vec<Arc<ManagedInformer<K>>>,
    ) -> Self {
        Self {
            resource,
            resync_period,
            entries,
        }
    }

    /// Adds a handler, at any time, with the factory's resync period. The handler first receives the objects that are
    /// already held, with `in_initial_list`.
    ///
    /// The registration survives a restart of the factory: the handler is then notified of what changed since the
    /// shutdown, deletions included, as after a long outage.
    ///
    /// # Ordering
    ///
    /// As of one informer: one call at a time, and for one key in the order of the cache's states. There is no order
    /// between namespaces.
    #[doc(alias = "AddEventHandler")]
    pub fn add_handler<H: EventHandler<K>>(&self, handler: H) -> ScopedRegistration {
        let mut options = HandlerOptions::default();
        if let Some(period) = self.resync_period {
            options = options.with_resync_period(period);
        }
        self.add_handler_with(handler, options)
    }

    /// Adds a handler with `options`, which override the factory's.
    #[doc(alias = "AddEventHandlerWithResyncPeriod")]
    pub fn add_handler_with<H: EventHandler<K>>(
        &self,
        handler: H,
        options: HandlerOptions,
    ) -> ScopedRegistration {
        // Not by the type that hands it on.
        let name = options.name.clone();
        let name = name.unwrap_or_else(|| type_name::<H>().into());
        let options = Arc::new(options.with_name(name));
        let handler = SharedHandler::new(handler);
        let slots = self.entries.iter().map(|entry| {
            let slot = Arc::new(HandlerSlot::new(handler.clone(), Arc::clone(&options)));
            entry.add_slot(Arc::clone(&slot) as Arc<dyn InformerSlot<K>>);
            slot as Arc<dyn AnySlot>
        });
        ScopedRegistration::new(slots.collect())
    }

    /// Adds an index to each informer, at any time. It is kept when the factory is started again.
    ///
    /// # Errors
    ///
    /// The name is taken, perhaps by another who shares the informer, or an informer has stopped. Informers before that one
    /// have the index. [`informer_with`](super::SharedInformerFactory::informer_with) takes an index of this name for the
    /// same one instead.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the index may be added to some informers.
    #[doc(alias = "AddIndexers")]
    pub async fn add_index(
        &self,
        name: impl Into<Arc<str>>,
        function: IndexFn<K>,
    ) -> Result<(), EditIndexError> {
        let name = name.into();
        for entry in &self.entries {
            entry.add_index(Arc::clone(&name), function.clone()).await?;
        }
        Ok(())
    }

    /// Adds the indices that are not there.
    pub(super) async fn ensure_indices(
        &self,
        config: &InformerConfig<K>,
    ) -> Result<(), EditIndexError> {
        for (name, function) in &config.indices {
            for entry in &self.entries {
                let added = entry.ensure_index(Arc::clone(name), function.clone());
                added.await?;
            }
        }
        Ok(())
    }

    /// Waits until every informer has its first whole state, at most for `limit`.
    ///
    /// # Errors
    ///
    /// Names those that have not, each with its last error.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost if dropped.
    pub async fn wait_for_cache_sync(&self, limit: Duration) -> Result<(), CacheSyncError> {
        let entries = self.entries.iter();
        let entries = entries.map(|entry| Arc::clone(entry) as Arc<dyn AnyManagedInformer>);
        wait_for_all(entries.collect(), limit).await
    }

    /// Returns whether every informer has its first whole state; after a new start, whether each has one again.
    pub fn has_synced(&self) -> bool {
        self.informers().all(|informer| informer.has_synced())
    }

    /// Reads by name, namespace and label selector.
    pub fn lister(&self) -> ScopedLister<K> {
        let entries = self.entries.iter();
        let listers = entries.map(|own| (own.key().scope.clone(), own.informer().lister()));
        ScopedLister::new(self.resource.resource.as_str().into(), listers.collect())
    }

    /// The informers as they are now, in order of their namespaces; one if the scope is everything.
    ///
    /// What is added to one of these belongs to it, and is not there after a new start.
    pub fn informers(&self) -> impl ExactSizeIterator<Item = SharedInformer<K>> {
        self.entries.iter().map(|entry| entry.informer())
    }

    /// Returns the present informer of a namespace, or of all; `None` if the namespace is not watched.
    #[cfg(feature = "controller")]
    pub(crate) fn informer_of(&self, namespace: &str) -> Option<SharedInformer<K>> {
        let covers = |scope: &crate::http::Scope| match scope {
            crate::http::Scope::All => true,
            crate::http::Scope::Namespace(own) => own == namespace,
        };
        let mut entries = self.entries.iter();
        let entry = entries.find(|entry| covers(&entry.key().scope))?;
        Some(entry.informer())
    }

    /// Returns the watched resource.
    pub fn resource(&self) -> &GroupVersionResource {
        &self.resource
    }
}

impl<K> Clone for ScopedInformer<K> {
    fn clone(&self) -> Self {
        Self {
            resource: self.resource.clone(),
            resync_period: self.resync_period,
            entries: self.entries.clone(),
        }
    }
}

impl<K: Send + Sync + 'static> fmt::Debug for ScopedInformer<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map()
            .entries(self.entries.iter().map(|own| (own.key(), own.informer())))
            .finish()
    }
}
