//! Makes informers, shares them, and runs them together.

use std::{
    any::{Any, TypeId},
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures::future::join_all;
use k8s_openapi::ClusterResourceScope;
use kube::{
    Resource,
    api::{ApiResource, DynamicObject},
    core::PartialObjectMeta,
};
use serde::de::DeserializeOwned;

use super::{
    CacheSyncError, ScopedInformer, Selection,
    entry::{AnyInformer, wait_for_all},
    key::{InformerKey, Representation},
    options::Options,
};
use crate::{
    discovery::{GroupResource, GroupVersionResource},
    http::HttpListWatch,
    reflector::ReflectorOptions,
    rest_mapper::{PartialResource, RestMapper, RestMapperError, RestMapping},
    shared_informer::SharedInformer,
};

/// Makes shared informers over one client; see the [module](crate::factory).
///
/// A clone is another handle to the same informers. They run until they are shut down or released, or until the last
/// handle to them and to the factory is dropped.
#[derive(Clone)]
pub struct SharedInformerFactory {
    shared: Arc<Shared>,
    options: Arc<Options>,
}

/// What all views of a factory have in common.
struct Shared {
    client: kube::Client,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    is_running: bool,
    informers: BTreeMap<InformerKey, Box<dyn AnyInformer>>,
    /// Those that were told to end and may have tasks left.
    ending: Vec<Box<dyn AnyInformer>>,
    transform_count: u64,
}

// === impl SharedInformerFactory: options ===

impl SharedInformerFactory {
    /// A factory over `client`, of all namespaces and all objects. It does nothing until it is [started](Self::start).
    ///
    /// Use a client made by [`http::client`](crate::http::client).
    #[doc(alias = "NewSharedInformerFactoryWithOptions")]
    pub fn new(client: kube::Client) -> Self {
        let mapper = RestMapper::new(client.clone());
        Self {
            shared: Arc::new(Shared {
                client,
                state: Mutex::default(),
            }),
            options: Arc::new(Options::new(mapper)),
        }
    }

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
        let id = {
            let mut state = self.shared.lock();
            state.transform_count += 1;
            state.transform_count
        };
        self.options_mut().set_transform(id, Arc::new(transform));
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

// === impl SharedInformerFactory: informers ===

impl SharedInformerFactory {
    /// The informer of a type that is known at compile time. It is running if the factory is.
    ///
    /// # Panics
    ///
    /// If the factory is running: outside of a tokio runtime.
    #[doc(alias = "InformerFor")]
    pub fn informer_for<K>(&self) -> ScopedInformer<K>
    where
        K: Resource<DynamicType: Default> + DeserializeOwned + Send + Sync + 'static,
    {
        let is_namespaced = TypeId::of::<K::Scope>() != TypeId::of::<ClusterResourceScope>();
        self.informer::<K>(&K::DynamicType::default(), is_namespaced)
    }

    /// The informer of the metadata of a type that is known at compile time. The server sends nothing else.
    ///
    /// It is the same as that of [`metadata_for_resource`](Self::metadata_for_resource).
    ///
    /// # Panics
    ///
    /// If the factory is running: outside of a tokio runtime.
    pub fn metadata_for<K>(&self) -> ScopedInformer<PartialObjectMeta<DynamicObject>>
    where
        K: Resource<DynamicType: Default> + 'static,
    {
        let is_namespaced = TypeId::of::<K::Scope>() != TypeId::of::<ClusterResourceScope>();
        let api_resource = ApiResource::erase::<K>(&K::DynamicType::default());
        self.informer(&api_resource, is_namespaced)
    }

    /// The informer of a resource's objects, whatever they are. Discovery is asked for their kind and scope.
    ///
    /// # Errors
    ///
    /// The server has no such resource, or could not be asked.
    ///
    /// # Cancel safety
    ///
    /// If dropped, nothing was made.
    #[doc(alias = "ForResource")]
    pub async fn for_resource(
        &self,
        resource: &GroupVersionResource,
    ) -> Result<ScopedInformer<DynamicObject>, RestMapperError> {
        Ok(self.for_mapping(&self.mapping(resource).await?))
    }

    /// The informer of what a person calls by a plural, singular or short name, or a kind: `po`, `deployments.apps`.
    ///
    /// # Errors
    ///
    /// The name has no one meaning, or the server could not be asked.
    ///
    /// # Cancel safety
    ///
    /// If dropped, nothing was made.
    pub async fn for_resource_name(
        &self,
        name: &str,
    ) -> Result<ScopedInformer<DynamicObject>, RestMapperError> {
        Ok(self.for_mapping(&self.options.mapper.resource_for(name).await?))
    }

    /// The informer of a resource whose kind and scope are known, so that nobody needs to be asked.
    ///
    /// # Panics
    ///
    /// If the factory is running: outside of a tokio runtime.
    pub fn for_mapping(&self, mapping: &RestMapping) -> ScopedInformer<DynamicObject> {
        self.informer(&mapping.api_resource(), mapping.is_namespaced())
    }

    /// The informer of the metadata of a resource's objects. The server sends nothing else.
    ///
    /// # Errors
    ///
    /// The server has no such resource, or could not be asked.
    ///
    /// # Cancel safety
    ///
    /// If dropped, nothing was made.
    pub async fn metadata_for_resource(
        &self,
        resource: &GroupVersionResource,
    ) -> Result<ScopedInformer<PartialObjectMeta<DynamicObject>>, RestMapperError> {
        let mapping = self.mapping(resource).await?;
        Ok(self.informer(&mapping.api_resource(), mapping.is_namespaced()))
    }

    async fn mapping(
        &self,
        resource: &GroupVersionResource,
    ) -> Result<RestMapping, RestMapperError> {
        let resource = PartialResource::from(resource);
        self.options.mapper.resource_for_partial(resource).await
    }

    fn informer<K>(&self, dynamic_type: &K::DynamicType, is_namespaced: bool) -> ScopedInformer<K>
    where
        K: Resource + DeserializeOwned + Send + Sync + 'static,
    {
        let resource = GroupVersionResource::of::<K>(dynamic_type);
        let group_resource = resource.group_resource();
        let scopes = self.options.scopes(is_namespaced).iter();
        let keys = scopes.map(|scope| InformerKey {
            resource: resource.clone(),
            scope: scope.clone(),
            selection: self.options.selection(&group_resource).clone(),
            representation: Representation::of::<K>(),
            transform: self.options.transform_id::<K>(),
        });
        let informers = keys.map(|key| {
            let informer = self.shared(&key, || self.build(&key, dynamic_type));
            (key, informer)
        });
        let informers = informers.collect();
        let resync_period = self.options.resync_period(&group_resource);
        ScopedInformer::new(resource, resync_period, informers)
    }

    /// The informer under `key`, if it has not stopped; else the one that `build` makes.
    fn shared<K: Send + Sync + 'static>(
        &self,
        key: &InformerKey,
        build: impl FnOnce() -> SharedInformer<K>,
    ) -> SharedInformer<K> {
        let mut state = self.shared.lock();
        if let Some(informer) = state.informers.get(key).filter(|own| !own.has_stopped()) {
            let informer: &dyn Any = &**informer;
            let informer = informer.downcast_ref::<SharedInformer<K>>();
            return informer.expect("the key names the type").clone();
        }
        let informer = build();
        if state.is_running {
            informer.start();
        }
        let stopped = state.informers.insert(key.clone(), informer.to_box());
        // Whoever is told by its end may ask the factory.
        drop(state);
        drop(stopped);
        informer
    }

    fn build<K>(&self, key: &InformerKey, dynamic_type: &K::DynamicType) -> SharedInformer<K>
    where
        K: Resource + DeserializeOwned + Send + Sync + 'static,
    {
        let client = self.shared.client.clone();
        let list_watch = HttpListWatch::<K>::new_with(client, key.scope.clone(), dynamic_type)
            .with_labels(key.selection.labels())
            .with_fields(key.selection.fields());
        let builder =
            SharedInformer::builder(list_watch).with_options(self.options.reflector.clone());
        self.options
            .apply_transform(builder)
            .build()
            .expect("no index is added, so that none has a name that is taken")
    }
}

// === impl SharedInformerFactory: life ===

impl SharedInformerFactory {
    /// Starts every informer that was asked for and is not running. From now on, one that is asked for is started at once.
    ///
    /// A second call does nothing. After a [`shutdown`](Self::shutdown), it begins anew.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn start(&self) {
        let mut state = self.shared.lock();
        state.is_running = true;
        for informer in state.informers.values() {
            informer.start();
        }
    }

    /// Waits until every informer that was asked for by now has its first whole state, at most for `limit`; those of all
    /// views, started or not.
    ///
    /// # Errors
    ///
    /// Names each informer that has not, with its last error. Waiting again is useful for those whose error can pass.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost if dropped.
    pub async fn wait_for_cache_sync(&self, limit: Duration) -> Result<(), CacheSyncError> {
        let informers = {
            let state = self.shared.lock();
            let informers = state.informers.iter();
            let informers = informers.map(|(key, informer)| (key.clone(), informer.to_box()));
            informers.collect()
        };
        wait_for_all(informers, limit).await
    }

    /// Ends every informer of which nobody holds a handle, and tells how many. Resolves when their handlers have heard what
    /// waited for them, and no task is left.
    ///
    /// A lister or a registration is not a handle, and neither is a handler that was
    /// [detached](super::ScopedRegistration::detach).
    ///
    /// # Cancel safety
    ///
    /// If dropped after its first poll, the informers end all the same, but nobody waits for them.
    pub async fn release_unused(&self) -> usize {
        let unused = self.end(|state| {
            let unused = state.informers.extract_if(.., |_, own| own.is_unused());
            unused.map(|(_, informer)| informer).collect()
        });
        self.drain(&unused).await;
        unused.len()
    }

    /// Stops every informer of all views, and resolves when their handlers have heard everything that waited for them, and
    /// no task is left. Every caller waits for all that is ending, whoever ended it.
    ///
    /// Caches can still be read. The factory is then empty and not running: what is asked for next is a new informer, which
    /// runs once the factory is [started](Self::start) again.
    ///
    /// It takes as long as the slowest handler.
    ///
    /// # Cancel safety
    ///
    /// If dropped after its first poll, the informers end all the same, but nobody waits for them.
    pub async fn shutdown(&self) {
        let all = self.end(|state| {
            state.is_running = false;
            std::mem::take(&mut state.informers).into_values().collect()
        });
        drop(all);
        let ending: Vec<_> = {
            let state = self.shared.lock();
            state.ending.iter().map(|own| own.to_box()).collect()
        };
        self.drain(&ending).await;
    }

    /// How many informers the factory keeps, in all views.
    pub fn informer_count(&self) -> usize {
        self.shared.lock().informers.len()
    }

    /// Moves what `take` takes to those that end.
    fn end(
        &self,
        take: impl FnOnce(&mut State) -> Vec<Box<dyn AnyInformer>>,
    ) -> Vec<Box<dyn AnyInformer>> {
        let mut state = self.shared.lock();
        let taken = take(&mut state);
        state.ending.extend(taken.iter().map(|own| own.to_box()));
        taken
    }

    async fn drain(&self, ending: &[Box<dyn AnyInformer>]) {
        join_all(ending.iter().map(|informer| informer.shutdown())).await;
        let drained: Vec<_> = {
            let mut state = self.shared.lock();
            state
                .ending
                .extract_if(.., |own| own.is_drained())
                .collect()
        };
        // Whoever is told by its end may ask the factory.
        drop(drained);
    }
}

impl fmt::Debug for SharedInformerFactory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.shared.lock();
        f.debug_struct("SharedInformerFactory")
            .field("is_running", &state.is_running)
            .field("informers", &state.informers.keys())
            .finish_non_exhaustive()
    }
}

// === impl Shared ===

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // A start outside of a runtime panics while it holds the lock; what is kept is whole all the same.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
