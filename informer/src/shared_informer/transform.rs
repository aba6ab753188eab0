//! Changes objects on their way into the cache, once each.

use std::{
    error::Error,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use crate::{
    metrics::Counter,
    object::{DecodeError, Object, ResourceVersion},
    store::{ReflectorStore, Replacement, StoreClosed},
};

type BoxError = Box<dyn Error + Send + Sync>;
type Function<K> = dyn Fn(Object<K>) -> Result<Object<K>, DecodeError> + Send + Sync;

/// What is done to each object that was decoded, before anybody sees it.
pub(super) struct Transform<K> {
    function: Option<Arc<Function<K>>>,
    pub(super) failures: Counter,
}

/// A store in front of which objects are transformed.
pub(super) struct Transforming<S, K> {
    store: S,
    transform: Transform<K>,
}

// === impl Transform ===

impl<K> Transform<K> {
    pub(super) fn none() -> Self {
        let failures = Counter::default();
        Self {
            function: None,
            failures,
        }
    }

    pub(super) fn new<F, E>(transform: F) -> Self
    where
        F: Fn(&mut K) -> Result<(), E> + Send + Sync + 'static,
        E: Into<BoxError>,
        K: Clone,
    {
        let function = move |object: Object<K>| {
            let (key, version) = (object.key().clone(), object.resource_version().clone());
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                object.try_transform(|value| transform(value).map_err(Into::into))
            }));
            let error: BoxError = match outcome {
                Ok(Ok(object)) => return Ok(object),
                Ok(Err(error)) => error,
                Err(_) => "the transform panicked".into(),
            };
            Err(DecodeError {
                key,
                resource_version: version,
                source: Arc::new(serde::de::Error::custom(error)),
            })
        };
        let failures = Counter::default();
        Self {
            function: Some(Arc::new(function)),
            failures,
        }
    }

    fn apply(&self, object: Object<K>) -> Result<Object<K>, DecodeError> {
        // What the cache gave back in place of a list item was transformed when it came in.
        let function = match &self.function {
            Some(function) if !object.is_transformed() => function,
            _ => return Ok(object),
        };
        function(object).inspect_err(|error| {
            self.failures.increment();
            tracing::warn!(
                key = %error.key,
                rv = %error.resource_version,
                error = %error.source,
                "transform failed",
            );
        })
    }
}

impl<K> fmt::Debug for Transform<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_set = self.function.is_some();
        f.debug_tuple("Transform").field(&is_set).finish()
    }
}

// === impl Transforming ===

impl<S, K> Transforming<S, K> {
    pub(super) fn new(store: S, transform: Transform<K>) -> Self {
        Self { store, transform }
    }
}

impl<S, K> ReflectorStore<K> for Transforming<S, K>
where
    S: ReflectorStore<K>,
    K: Send + Sync + 'static,
{
    async fn add(&mut self, object: Object<K>) -> Result<(), StoreClosed> {
        match self.transform.apply(object) {
            Ok(object) => self.store.add(object).await,
            Err(error) => self.store.undecodable(error).await,
        }
    }

    async fn update(&mut self, object: Object<K>) -> Result<(), StoreClosed> {
        match self.transform.apply(object) {
            Ok(object) => self.store.update(object).await,
            Err(error) => self.store.undecodable(error).await,
        }
    }

    async fn delete(&mut self, object: Object<K>) -> Result<(), StoreClosed> {
        match self.transform.apply(object) {
            Ok(object) => self.store.delete(object).await,
            Err(error) => self.store.delete_undecodable(error).await,
        }
    }

    async fn undecodable(&mut self, error: DecodeError) -> Result<(), StoreClosed> {
        self.store.undecodable(error).await
    }

    async fn delete_undecodable(&mut self, error: DecodeError) -> Result<(), StoreClosed> {
        self.store.delete_undecodable(error).await
    }

    async fn replace(&mut self, mut replacement: Replacement<K>) -> Result<(), StoreClosed> {
        let objects = std::mem::take(&mut replacement.objects);
        for object in objects {
            match self.transform.apply(object) {
                Ok(object) => replacement.objects.push(object),
                Err(error) => replacement.undecodable.push(error),
            }
        }
        self.store.replace(replacement).await
    }

    async fn bookmark(&mut self, resource_version: ResourceVersion) -> Result<(), StoreClosed> {
        self.store.bookmark(resource_version).await
    }
}
