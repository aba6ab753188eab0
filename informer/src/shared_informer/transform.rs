//! Changes objects on their way into the cache.

use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use crate::{
    counter::Counter,
    object::{DecodeError, Object},
    object_fn::BoxError,
};

pub(super) type Function<K> = dyn Fn(Object<K>) -> Result<Object<K>, DecodeError> + Send + Sync;

/// A change of each decoded object, made before any reader sees it.
pub(super) struct Transform<K> {
    function: Option<Arc<Function<K>>>,
    pub(super) failures: Counter,
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
        let function = move |object: Object<K>| {
            let (key, version) = (object.key().clone(), object.resource_version().clone());
            let change = |mut value: Arc<K>| {
                // Copied only if another handle shares it.
                transform(Arc::make_mut(&mut value)).map_err(Into::into)?;
                Ok(value)
            };
            let outcome = catch_unwind(AssertUnwindSafe(|| object.try_transform(change)));
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
        Self::of(Arc::new(function))
    }

    pub(super) fn of(function: Arc<Function<K>>) -> Self {
        Self {
            function: Some(function),
            failures: Counter::default(),
        }
    }

    pub(super) fn apply(&self, object: Object<K>) -> Result<Object<K>, DecodeError> {
        // What the cache gave back in place of a list item was transformed when it came in.
        let function = match &self.function {
            Some(function) if !object.is_transformed() => function,
            _ => return Ok(object),
        };
        function(object).inspect_err(|error| self.note_failure(error, "transform failed"))
    }

    pub(super) fn note_failure(&self, error: &DecodeError, what: &'static str) {
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
