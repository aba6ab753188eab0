//! The setters of a factory. Each returns a view: the same informers, requested with other options.

use std::{sync::Arc, time::Duration};

use super::{FactoryObject, Selectors, SharedInformerFactory, options::Options};
#[cfg(feature = "compact")]
use crate::compact::{Compact, CompactOptions};
use crate::{
    discovery::GroupResource, http::Encoding, reflector::ReflectorOptions, rest_mapper::RestMapper,
    shard::Shard,
};

// === impl SharedInformerFactory ===

impl SharedInformerFactory {
    /// Selects only objects of one namespace; the empty name means all. Cluster-scoped resources are watched whole all the same.
    #[doc(alias = "WithNamespace")]
    #[must_use]
    pub fn with_namespace(self, namespace: impl Into<String>) -> Self {
        self.with_namespaces([namespace])
    }

    /// Selects only objects of these namespaces, each watched by an informer of its own and shown as one. None if there are none.
    #[must_use]
    pub fn with_namespaces<N: Into<String>>(
        mut self,
        namespaces: impl IntoIterator<Item = N>,
    ) -> Self {
        let namespaces = namespaces.into_iter().map(Into::into);
        self.options_mut().set_namespaces(namespaces);
        self
    }

    /// Selects only objects that match `selectors`, for resources without selectors of their own.
    #[doc(alias = "WithTweakListOptions")]
    #[must_use]
    pub fn with_selectors(mut self, selectors: Selectors) -> Self {
        self.options_mut().set_selectors(None, selectors);
        self
    }

    /// Selects only objects that match `selectors` for one resource, in place of those for all.
    #[must_use]
    pub fn with_selectors_for(mut self, resource: GroupResource, selectors: Selectors) -> Self {
        self.options_mut().set_selectors(Some(resource), selectors);
        self
    }

    /// Selects only objects of this shard, of all resources: see [`shard`](crate::shard).
    #[must_use]
    pub fn with_shard(mut self, shard: Shard) -> Self {
        self.options_mut().set_shard(shard);
        self
    }

    /// Sets the resync period of handlers to `period`, for resources that have none of their own; zero means never.
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

    /// Changes each object of type `K` once, before any reader sees it, for example to drop unused fields.
    ///
    /// A transform takes the place of an earlier one for `K`. Requests share an informer if their transform was set by the same
    /// call; for one dynamic resource, set it on a view that asks for this resource only. See
    /// [`SharedInformerBuilder::with_transform`](crate::SharedInformerBuilder::with_transform).
    #[doc(alias = "WithTransform")]
    #[must_use]
    pub fn with_transform<K>(mut self, transform: impl Fn(&mut K) + Send + Sync + 'static) -> Self
    where
        K: FactoryObject + Clone,
    {
        let (id, transform) = (self.shared.next_transform_id(), Arc::new(transform));
        self.options_mut().set_transform::<K>(id, move |builder| {
            let transform = Arc::clone(&transform);
            builder.with_transform(move |object| transform(object))
        });
        self
    }

    /// Changes each object of type `Compact<K>` whenever it is decoded. Else as [`with_transform`](Self::with_transform).
    #[cfg(feature = "compact")]
    #[must_use]
    pub fn with_decode_transform<K>(
        mut self,
        transform: impl Fn(&mut K) + Send + Sync + 'static,
    ) -> Self
    where
        K: Send + Sync + 'static,
    {
        let (id, transform) = (self.shared.next_transform_id(), Arc::new(transform));
        self.options_mut()
            .set_transform::<Compact<K>>(id, move |builder| {
                let transform = Arc::clone(&transform);
                builder.with_decode_transform(move |object| transform(object))
            });
        self
    }

    /// Holds the objects of informers of [`Compact`] types as `options` say, for resources that have none of their own.
    /// Among requests that share an informer, the first decides.
    #[cfg(feature = "compact")]
    #[must_use]
    pub fn with_compact_options(mut self, options: CompactOptions) -> Self {
        self.options_mut().set_compact(None, options);
        self
    }

    /// The same for one resource, in place of the options for all.
    #[cfg(feature = "compact")]
    #[must_use]
    pub fn with_compact_options_for(
        mut self,
        resource: GroupResource,
        options: CompactOptions,
    ) -> Self {
        self.options_mut().set_compact(Some(resource), options);
        self
    }

    /// Asks the server for objects in `encoding`, for resources that have none of their own; see
    /// [`HttpListWatch::with_encoding`](crate::http::HttpListWatch::with_encoding). Among requests that share an informer, the
    /// first decides.
    #[doc(alias = "ContentType")]
    #[must_use]
    pub fn with_encoding(mut self, encoding: Encoding) -> Self {
        self.options_mut().set_encoding(None, encoding);
        self
    }

    /// The same for one resource, in place of the encoding for all.
    #[must_use]
    pub fn with_encoding_for(mut self, resource: GroupResource, encoding: Encoding) -> Self {
        self.options_mut().set_encoding(Some(resource), encoding);
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
