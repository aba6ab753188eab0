//! Keeps objects that are not wanted out of the cache, and changes the others on their way into it, once each.

use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use crate::{
    compact::Change,
    handler::Filter,
    metrics::Counter,
    object::{DecodeError, Object, ResourceVersion},
    reading::BoxError,
    store::{ReflectorStore, Replacement, StoreClosed},
};

type Function<K> = dyn Fn(Object<K>) -> Result<Object<K>, DecodeError> + Send + Sync;

/// What is done to each object that was decoded, before anybody sees it.
pub(super) struct Transform<K> {
    function: Option<Arc<Function<K>>>,
    pub(super) failures: Counter,
}

/// A store in front of which objects are filtered and then transformed.
pub(super) struct Transforming<S, K> {
    store: S,
    filter: Option<Filter<K>>,
    transform: Transform<K>,
}

/// What becomes of an object that arrived.
enum Admission<K> {
    Stored(Object<K>),
    Refused(DecodeError),
    /// The filter rejects it.
    Unwanted(Object<K>),
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
        K: Clone + 'static,
    {
        let change: Arc<Change<K>> = Arc::new(move |value| transform(value).map_err(Into::into));
        let function = move |object: Object<K>| {
            let (key, version) = (object.key().clone(), object.resource_version().clone());
            let outcome = catch_unwind(AssertUnwindSafe(|| object.try_transform(&change)));
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
        function(object).inspect_err(|error| self.note_failure(error, "transform failed"))
    }

    fn note_failure(&self, error: &DecodeError, what: &'static str) {
        self.failures.increment();
        // The reason may quote the object: it is for those who ask for it.
        tracing::warn!(key = %error.key, rv = %error.resource_version, what, "object refused");
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
    pub(super) fn new(store: S, filter: Option<Filter<K>>, transform: Transform<K>) -> Self {
        Self {
            store,
            filter,
            transform,
        }
    }

    fn admit(&self, object: Object<K>) -> Admission<K> {
        match is_wanted(self.filter.as_ref(), &object) {
            Ok(true) => match self.transform.apply(object) {
                Ok(object) => Admission::Stored(object),
                Err(error) => Admission::Refused(error),
            },
            Ok(false) => Admission::Unwanted(object),
            Err(error) => {
                self.transform.note_failure(&error, "filter failed");
                Admission::Refused(error)
            }
        }
    }
}

/// Whether `object` passes `filter`, as it arrived: what the cache gave back in place of a list item did when it came in.
pub(super) fn is_wanted<K>(
    filter: Option<&Filter<K>>,
    object: &Object<K>,
) -> Result<bool, DecodeError> {
    match filter {
        Some(filter) if !object.is_transformed() => filter
            .check(object)
            .map_err(|reason| refused(object, reason)),
        _ => Ok(true),
    }
}

fn refused<K>(object: &Object<K>, reason: impl fmt::Display) -> DecodeError {
    DecodeError {
        key: object.key().clone(),
        resource_version: object.resource_version().clone(),
        source: Arc::new(serde::de::Error::custom(reason)),
    }
}

impl<S, K> ReflectorStore<K> for Transforming<S, K>
where
    S: ReflectorStore<K>,
    K: Send + Sync + 'static,
{
    async fn add(&mut self, object: Object<K>) -> Result<(), StoreClosed> {
        match self.admit(object) {
            Admission::Stored(object) => self.store.add(object).await,
            Admission::Refused(error) => self.store.undecodable(error).await,
            // It may have been wanted before.
            Admission::Unwanted(object) => self.delete(object).await,
        }
    }

    async fn update(&mut self, object: Object<K>) -> Result<(), StoreClosed> {
        match self.admit(object) {
            Admission::Stored(object) => self.store.update(object).await,
            Admission::Refused(error) => self.store.undecodable(error).await,
            // To this informer it left the selection.
            Admission::Unwanted(object) => self.delete(object).await,
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
            match self.admit(object) {
                Admission::Stored(object) => replacement.objects.push(object),
                Admission::Refused(error) => replacement.undecodable.push(error),
                Admission::Unwanted(_) => {}
            }
        }
        self.store.replace(replacement).await
    }

    async fn bookmark(&mut self, resource_version: ResourceVersion) -> Result<(), StoreClosed> {
        self.store.bookmark(resource_version).await
    }
}
