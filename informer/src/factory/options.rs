//! Options of a view's informers.

use std::{
    any::{Any, TypeId},
    collections::BTreeMap,
    fmt,
    sync::Arc,
    time::Duration,
};

use super::Selectors;
#[cfg(feature = "compact")]
use crate::compact::CompactOptions;
use crate::{
    discovery::GroupResource,
    http::{Encoding, HttpListWatch, Scope},
    reflector::ReflectorOptions,
    rest_mapper::RestMapper,
    shard::Shard,
    shared_informer::SharedInformerBuilder,
};

type Builder<K> = SharedInformerBuilder<K, HttpListWatch<K>>;
type Apply<K> = Arc<dyn Fn(Builder<K>) -> Builder<K> + Send + Sync>;

/// The options of a view's informers.
#[derive(Clone, Debug)]
pub struct Options {
    pub(super) mapper: RestMapper,
    pub(super) reflector: ReflectorOptions,
    scopes: Vec<Scope>,
    selectors: PerResource<Selectors>,
    /// The shard of all resources, in place of those of their selectors.
    shard: Option<Shard>,
    resync_period: PerResource<Option<Duration>>,
    encoding: PerResource<Encoding>,
    #[cfg(feature = "compact")]
    compact: PerResource<CompactOptions>,
    transforms: BTreeMap<TypeId, Transform>,
}

/// A value for all resources, and others for some of them.
#[derive(Clone, Debug)]
struct PerResource<T> {
    all: T,
    own: BTreeMap<GroupResource, T>,
}

/// A transform of objects of one type.
#[derive(Clone)]
struct Transform {
    /// Tells it from all others of the factory.
    id: u64,
    /// An `Apply<K>`, for the type under which it is kept.
    apply: Arc<dyn Any + Send + Sync>,
}

// === impl Options ===

impl Options {
    pub(super) fn new(mapper: RestMapper) -> Self {
        Self {
            mapper,
            reflector: ReflectorOptions::default(),
            scopes: vec![Scope::All],
            selectors: PerResource::new(Selectors::everything()),
            shard: None,
            resync_period: PerResource::new(None),
            encoding: PerResource::new(Encoding::default()),
            #[cfg(feature = "compact")]
            compact: PerResource::new(CompactOptions::default()),
            transforms: BTreeMap::new(),
        }
    }

    /// In order and each once. The empty name means all namespaces, as in client-go, and all comprise each.
    pub(super) fn set_namespaces(&mut self, namespaces: impl IntoIterator<Item = String>) {
        let mut namespaces: Vec<_> = namespaces.into_iter().collect();
        namespaces.sort_unstable();
        namespaces.dedup();
        self.scopes = if namespaces.first().is_some_and(String::is_empty) {
            vec![Scope::All]
        } else {
            namespaces.into_iter().map(Scope::Namespace).collect()
        };
    }

    pub(super) fn set_selectors(&mut self, resource: Option<GroupResource>, selectors: Selectors) {
        self.selectors.set(resource, selectors);
    }

    /// Zero means never.
    pub(super) fn set_resync_period(&mut self, resource: Option<GroupResource>, period: Duration) {
        let period = (!period.is_zero()).then_some(period);
        self.resync_period.set(resource, period);
    }

    pub(super) fn set_encoding(&mut self, resource: Option<GroupResource>, encoding: Encoding) {
        self.encoding.set(resource, encoding);
    }

    #[cfg(feature = "compact")]
    pub(super) fn set_compact(&mut self, resource: Option<GroupResource>, compact: CompactOptions) {
        self.compact.set(resource, compact);
    }

    /// Sets what `apply` adds to the builder of each informer of `K`.
    pub(super) fn set_transform<K>(
        &mut self,
        id: u64,
        apply: impl Fn(Builder<K>) -> Builder<K> + Send + Sync + 'static,
    ) where
        K: Send + Sync + 'static,
    {
        let apply: Apply<K> = Arc::new(apply);
        let apply = Arc::new(apply);
        self.transforms
            .insert(TypeId::of::<K>(), Transform { id, apply });
    }

    /// The parts of a resource that are to be watched, each by an informer of its own.
    pub(super) fn scopes(&self, is_namespaced: bool) -> &[Scope] {
        if is_namespaced {
            &self.scopes
        } else {
            // Its paths have no place for a namespace.
            &[Scope::All]
        }
    }

    pub(super) fn set_shard(&mut self, shard: Shard) {
        self.shard = Some(shard);
    }

    pub(super) fn selectors(&self, resource: &GroupResource) -> Selectors {
        let selectors = self.selectors.get(resource).clone();
        match self.shard {
            Some(shard) => selectors.with_shard(shard),
            None => selectors,
        }
    }

    pub(super) fn resync_period(&self, resource: &GroupResource) -> Option<Duration> {
        *self.resync_period.get(resource)
    }

    pub(super) fn encoding(&self, resource: &GroupResource) -> Encoding {
        *self.encoding.get(resource)
    }

    #[cfg(feature = "compact")]
    pub(super) fn compact(&self, resource: &GroupResource) -> &CompactOptions {
        self.compact.get(resource)
    }

    pub(super) fn transform_id<K: 'static>(&self) -> Option<u64> {
        let transform = self.transforms.get(&TypeId::of::<K>());
        transform.map(|transform| transform.id)
    }

    pub(super) fn apply_transform<K: 'static>(&self, builder: Builder<K>) -> Builder<K> {
        let Some(transform) = self.transforms.get(&TypeId::of::<K>()) else {
            return builder;
        };
        let apply = transform.apply.downcast_ref::<Apply<K>>();
        apply.expect("a transform is kept under the type that it is for")(builder)
    }
}

// === impl PerResource ===

impl<T> PerResource<T> {
    fn new(all: T) -> Self {
        Self {
            all,
            own: BTreeMap::new(),
        }
    }

    fn set(&mut self, resource: Option<GroupResource>, value: T) {
        match resource {
            Some(resource) => drop(self.own.insert(resource, value)),
            None => self.all = value,
        }
    }

    fn get(&self, resource: &GroupResource) -> &T {
        self.own.get(resource).unwrap_or(&self.all)
    }
}

// === impl Transform ===

impl fmt::Debug for Transform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Transform").field(&self.id).finish()
    }
}
