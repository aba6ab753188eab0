//! Views of a factory: the same informers, asked for with other options.

use std::{sync::Arc, time::Duration};

use kube::Resource;
use serde::de::DeserializeOwned;

use super::{Selection, SharedInformerFactory, options::Options};
use crate::{
    compact::CompactOptions, discovery::GroupResource, reflector::ReflectorOptions,
    rest_mapper::RestMapper,
};

// === impl SharedInformerFactory ===

impl SharedInformerFactory {
    /// Only objects of one namespace; the empty name means all. Cluster-scoped resources are watched whole all the same.
    #[doc(alias = "WithNamespace")]
    #[must_use]
    pub fn with_namespace(self, namespace: impl Into<String>) -> Self {
        self.with_namespaces([namespace])
    }

    /// Only objects of these namespaces, each watched by an informer of its own and shown as one. None if there are none.
    #[must_use]
    pub fn with_namespaces<N: Into<String>>(
        mut self,
        namespaces: impl IntoIterator<Item = N>,
    ) -> Self {
        let namespaces = namespaces.into_iter().map(Into::into);
        self.options_mut().set_namespaces(namespaces);
        self
    }

    /// Only objects of this selection, for resources that have none of their own.
    #[doc(alias = "WithTweakListOptions")]
    #[must_use]
    pub fn with_selection(mut self, selection: Selection) -> Self {
        self.options_mut().set_selection(None, selection);
        self
    }

    /// Only objects of this selection for one resource, in place of the one for all.
    #[must_use]
    pub fn with_selection_for(mut self, resource: GroupResource, selection: Selection) -> Self {
        self.options_mut().set_selection(Some(resource), selection);
        self
    }

    /// Handlers are told of everything again every `period`, for resources that have none of their own; zero means never.
    ///
    /// See [`HandlerOptions::with_resync_period`](crate::HandlerOptions::with_resync_period).
    #[must_use]
    pub fn with_resync_period(mut self, period: Duration) -> Self {
        self.options_mut().set_resync_period(None, period);
        self
    }

    /// The same for one resource, in place of the period for all.
    #[doc(alias = "WithCustomResyncConfig")]
    #[must_use]
    pub fn with_resync_period_for(mut self, resource: GroupResource, period: Duration) -> Self {
        self.options_mut().set_resync_period(Some(resource), period);
        self
    }

    /// Changes each object of type `K` once, before anybody sees it: to leave out what is not needed.
    ///
    /// It takes the place of an earlier one for `K`. Requests share an informer if their transform was set by the same
    /// call; for one dynamic resource, set it on a view that asks for this resource only. See
    /// [`SharedInformerBuilder::with_transform`](crate::shared_informer::SharedInformerBuilder::with_transform).
    #[doc(alias = "WithTransform")]
    #[must_use]
    pub fn with_transform<K>(mut self, transform: impl Fn(&mut K) + Send + Sync + 'static) -> Self
    where
        K: Resource + DeserializeOwned + Clone + Send + Sync + 'static,
    {
        let id = self.shared.next_transform_id();
        self.options_mut().set_transform(id, Arc::new(transform));
        self
    }

    /// Holds the objects of all resources as compressed bytes, or, with `None`, decoded: see [`compact`](crate::compact). Of
    /// those who share an informer, the first decides.
    #[must_use]
    pub fn with_compact(mut self, options: impl Into<Option<CompactOptions>>) -> Self {
        self.options_mut().set_compact(None, options.into());
        self
    }

    /// The same for one resource.
    #[must_use]
    pub fn with_compact_for(
        mut self,
        resource: GroupResource,
        options: impl Into<Option<CompactOptions>>,
    ) -> Self {
        self.options_mut()
            .set_compact(Some(resource), options.into());
        self
    }

    /// Lists, watches and backs off as `options` say. Of those who share an informer, the first decides.
    #[must_use]
    pub fn with_options(mut self, options: ReflectorOptions) -> Self {
        self.options_mut().reflector = options;
        self
    }

    /// Asks `mapper` what names mean, in place of one of the factory's own.
    #[must_use]
    pub fn with_rest_mapper(mut self, mapper: RestMapper) -> Self {
        self.options_mut().mapper = mapper;
        self
    }

    fn options_mut(&mut self) -> &mut Options {
        Arc::make_mut(&mut self.options)
    }
}
