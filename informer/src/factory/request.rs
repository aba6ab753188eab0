//! Requests to a factory: the informer of a type, of a resource, of a name.

use std::{any::TypeId, sync::Arc};

use k8s_openapi::ClusterResourceScope;
use kube::{
    Resource,
    api::{ApiResource, DynamicObject},
    core::PartialObjectMeta,
};

use super::{
    FactoryObject, InformerConfig, ScopedInformer, SharedInformerFactory,
    key::{InformerKey, Representation},
    managed_informer::{Make, ManagedInformer},
    observers::ObserverHub,
};
use crate::{
    discovery::GroupVersionResource,
    http::HttpListWatch,
    rest_mapper::{PartialResource, RestMapperError, RestMapping},
    shared_informer::{EditIndexError, SharedInformer},
};

type DynamicType<K> = <<K as FactoryObject>::Resource as Resource>::DynamicType;

// === impl SharedInformerFactory ===

impl SharedInformerFactory {
    /// The informer of a type that is known at compile time. It is running if the factory is.
    ///
    /// # Panics
    ///
    /// If the factory is running: outside of a tokio runtime.
    #[doc(alias = "InformerFor")]
    pub fn informer_for<K>(&self) -> ScopedInformer<K>
    where
        K: FactoryObject<Resource: Resource<DynamicType: Default>>,
    {
        self.request(
            &dynamic_type::<K>(),
            is_namespaced::<K::Resource>(),
            &InformerConfig::new(),
        )
    }

    /// Does the same with indices and observers: all callers get one informer, which has them from now on.
    ///
    /// # Errors
    ///
    /// The informer has stopped, since the factory was shut down: ask again after the next start.
    ///
    /// # Panics
    ///
    /// If the factory is running: outside of a tokio runtime.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the informer is made, and may lack indices; asking again adds them.
    pub async fn informer_with<K>(
        &self,
        config: InformerConfig<K>,
    ) -> Result<ScopedInformer<K>, EditIndexError>
    where
        K: FactoryObject<Resource: Resource<DynamicType: Default>>,
    {
        let is_namespaced = is_namespaced::<K::Resource>();
        let informer = self.request(&dynamic_type::<K>(), is_namespaced, &config);
        informer.ensure_indices(&config).await?;
        Ok(informer)
    }

    /// The informer of the metadata of a type that is known at compile time. The server sends nothing else.
    ///
    /// The informer is the same as that of [`metadata_for_resource`](Self::metadata_for_resource).
    ///
    /// # Panics
    ///
    /// If the factory is running: outside of a tokio runtime.
    pub fn metadata_for<K>(&self) -> ScopedInformer<PartialObjectMeta<DynamicObject>>
    where
        K: Resource<DynamicType: Default> + 'static,
    {
        let api_resource = ApiResource::erase::<K>(&K::DynamicType::default());
        self.request(&api_resource, is_namespaced::<K>(), &InformerConfig::new())
    }

    /// Returns the informer of a resource's objects, of any kind. Discovery provides their kind and scope.
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

    /// Returns the informer of a resource whose kind and scope are known, so that no request is needed.
    ///
    /// # Panics
    ///
    /// If the factory is running: outside of a tokio runtime.
    pub fn for_mapping(&self, mapping: &RestMapping) -> ScopedInformer<DynamicObject> {
        let config = InformerConfig::new();
        self.request(&mapping.api_resource(), mapping.is_namespaced(), &config)
    }

    /// Does the same with indices and observers, as [`informer_with`](Self::informer_with), and for
    /// `Compact<DynamicObject>` if the config is for that.
    ///
    /// # Errors
    ///
    /// The informer was stopped by another caller meanwhile. Ask again.
    ///
    /// # Panics
    ///
    /// If the factory is running: outside of a tokio runtime.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the informer is made, and may lack indices; asking again adds them.
    pub async fn for_mapping_with<K>(
        &self,
        mapping: &RestMapping,
        config: InformerConfig<K>,
    ) -> Result<ScopedInformer<K>, EditIndexError>
    where
        K: FactoryObject<Resource = DynamicObject>,
    {
        let informer = self.request(&mapping.api_resource(), mapping.is_namespaced(), &config);
        informer.ensure_indices(&config).await?;
        Ok(informer)
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
        let config = InformerConfig::new();
        Ok(self.request(&mapping.api_resource(), mapping.is_namespaced(), &config))
    }

    async fn mapping(
        &self,
        resource: &GroupVersionResource,
    ) -> Result<RestMapping, RestMapperError> {
        let resource = PartialResource::from(resource);
        self.options.mapper.resource_for_partial(resource).await
    }

    fn request<K>(
        &self,
        dynamic_type: &DynamicType<K>,
        is_namespaced: bool,
        config: &InformerConfig<K>,
    ) -> ScopedInformer<K>
    where
        K: FactoryObject,
    {
        let resource = GroupVersionResource::of::<K::Resource>(dynamic_type);
        let group_resource = resource.group_resource();
        let scopes = self.options.scopes(is_namespaced).iter();
        let keys = scopes.map(|scope| InformerKey {
            resource: resource.clone(),
            scope: scope.clone(),
            selectors: self.options.selectors(&group_resource),
            representation: Representation::of::<K>(),
            transform: self.options.transform_id::<K>(),
        });
        let entries = keys.map(|key| {
            self.shared.entry(key, &config.observers, |key| {
                let observers = Arc::<ObserverHub>::default();
                let make = self.make(&key, dynamic_type, Arc::clone(&observers));
                ManagedInformer::new(key, observers, make)
            })
        });
        let entries = entries.collect();
        let resync_period = self.options.resync_period(&group_resource);
        ScopedInformer::new(resource, resync_period, entries)
    }

    /// Returns the function that makes generations of the informer under `key`.
    fn make<K>(
        &self,
        key: &InformerKey,
        dynamic_type: &DynamicType<K>,
        observers: Arc<ObserverHub>,
    ) -> Make<K>
    where
        K: FactoryObject,
    {
        let client = self.shared.client.clone();
        let group_resource = key.resource.group_resource();
        let mut plain =
            HttpListWatch::<K::Resource>::new_with(client, key.scope.clone(), dynamic_type)
                .with_labels(key.selectors.labels())
                .with_fields(key.selectors.fields())
                .with_encoding(self.options.encoding(&group_resource));
        if let Some(shard) = key.selectors.shard() {
            plain = plain.with_shard(shard);
        }
        let list_watch = K::list_watch(plain, &group_resource, &self.options);
        let options = Arc::clone(&self.options);
        Box::new(move |previous| {
            let mut builder = SharedInformer::builder(list_watch.clone())
                .with_options(options.reflector.clone())
                .with_observer(Arc::clone(&observers) as _);
            if let Some(previous) = previous {
                builder = builder.with_previous(previous);
            }
            options
                .apply_transform(builder)
                .build()
                .expect("no index is added, so that none has a name that is taken")
        })
    }
}

fn dynamic_type<K: FactoryObject<Resource: Resource<DynamicType: Default>>>() -> DynamicType<K> {
    DynamicType::<K>::default()
}

/// Returns true if the objects of a kind are in namespaces.
pub(crate) fn is_namespaced<K: Resource + 'static>() -> bool {
    TypeId::of::<K::Scope>() != TypeId::of::<ClusterResourceScope>()
}
