//! The informers of one resource in a factory's scope, as one.

use std::{fmt, sync::Arc, time::Duration};

use super::{
    CacheSyncError, ScopedLister, ScopedRegistration,
    entry::{AnyInformer, wait_for_all},
    key::InformerKey,
    registration::Handed,
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
/// While a handle is held, [`release_unused`](super::SharedInformerFactory::release_unused) leaves its informers running.
/// Listers and registrations are not handles.
#[doc(alias = "GenericInformer")]
pub struct ScopedInformer<K> {
    resource: GroupVersionResource,
    resync_period: Option<Duration>,
    /// In order of their scopes.
    informers: Vec<(InformerKey, SharedInformer<K>)>,
}

// === impl ScopedInformer ===

impl<K: Send + Sync + 'static> ScopedInformer<K> {
    pub(super) fn new(
        resource: GroupVersionResource,
        resync_period: Option<Duration>,
        informers: Vec<(InformerKey, SharedInformer<K>)>,
    ) -> Self {
        Self {
            resource,
            resync_period,
            informers,
        }
    }

    /// Adds a handler, at any time, that is told again of everything as often as the factory says. What is held already is
    /// told first, with `in_initial_list`.
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

    /// Adds a handler that is served as `options` say, whatever the factory says.
    #[doc(alias = "AddEventHandlerWithResyncPeriod")]
    pub fn add_handler_with<H: EventHandler<K>>(
        &self,
        handler: H,
        options: HandlerOptions,
    ) -> ScopedRegistration {
        if let [(_, informer)] = &self.informers[..] {
            return ScopedRegistration(vec![informer.add_handler_with(handler, options)]);
        }
        let handler = Handed::new(handler);
        let informers = self.informers.iter();
        let registrations = informers
            .map(|(_, informer)| informer.add_handler_with(handler.clone(), options.clone()));
        ScopedRegistration(registrations.collect())
    }

    /// Adds an index to each informer, at any time.
    ///
    /// # Errors
    ///
    /// The name is taken, perhaps by another who shares the informer, or an informer has stopped. Informers before that one
    /// have the index.
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
        for (_, informer) in &self.informers {
            informer
                .add_index(Arc::clone(&name), function.clone())
                .await?;
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
        let informers = self.informers.iter();
        let informers = informers.map(|(key, informer)| (key.clone(), informer.to_box()));
        wait_for_all(informers.collect(), limit).await
    }

    /// Whether every informer has its first whole state.
    pub fn has_synced(&self) -> bool {
        self.informers().all(SharedInformer::has_synced)
    }

    /// Reads by name, namespace and label selector.
    pub fn lister(&self) -> ScopedLister<K> {
        let informers = self.informers.iter();
        let listers = informers.map(|(key, informer)| (key.scope.clone(), informer.lister()));
        ScopedLister::new(self.resource.resource.as_str().into(), listers.collect())
    }

    /// The informers, in order of their namespaces; one if the scope is everything.
    pub fn informers(&self) -> impl ExactSizeIterator<Item = &SharedInformer<K>> {
        self.informers.iter().map(|(_, informer)| informer)
    }

    /// What is watched.
    pub fn resource(&self) -> &GroupVersionResource {
        &self.resource
    }
}

impl<K> Clone for ScopedInformer<K> {
    fn clone(&self) -> Self {
        Self {
            resource: self.resource.clone(),
            resync_period: self.resync_period,
            informers: self.informers.clone(),
        }
    }
}

impl<K> fmt::Debug for ScopedInformer<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map()
            .entries(self.informers.iter().map(|(key, own)| (key, own)))
            .finish()
    }
}
