//! Functions of objects, of indices and filters: each declares the part of the object that it reads, and its panic is an error.

use std::{
    any::Any,
    error::Error,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use crate::{
    field_path::{FieldPath, Fields, ReadFieldError},
    object::{Metadata, Object, Reads},
};

pub(crate) type BoxError = Box<dyn Error + Send + Sync>;
type OfMetadata<T> = dyn Fn(&Metadata) -> T + Send + Sync;
type OfTexts<T> = dyn Fn(Vec<Arc<str>>) -> T + Send + Sync;
/// Reads the texts at a path.
type ReadField<K> = fn(&K, &FieldPath) -> Result<Vec<Arc<str>>, ReadFieldError>;
type OfObject<K, T> = dyn Fn(&Object<K>) -> Result<T, BoxError> + Send + Sync;

/// A function that reads a `T` from an object.
pub(crate) enum ObjectFn<K, T> {
    Metadata(Arc<OfMetadata<T>>),
    Field {
        path: FieldPath,
        /// Reads the texts at the path; kept as a pointer, so that only the constructor needs the bound.
        read: ReadField<K>,
        then: Arc<OfTexts<T>>,
    },
    Object(Arc<OfObject<K, T>>),
}

// === impl ObjectFn ===

impl<K, T> ObjectFn<K, T> {
    pub(crate) fn of_metadata(function: impl Fn(&Metadata) -> T + Send + Sync + 'static) -> Self {
        Self::Metadata(Arc::new(function))
    }

    pub(crate) fn of_field(
        path: FieldPath,
        then: impl Fn(Vec<Arc<str>>) -> T + Send + Sync + 'static,
    ) -> Self
    where
        K: Fields,
    {
        Self::Field {
            path,
            read: K::values_at,
            then: Arc::new(then),
        }
    }

    pub(crate) fn of_object(
        function: impl Fn(&Object<K>) -> Result<T, BoxError> + Send + Sync + 'static,
    ) -> Self {
        Self::Object(Arc::new(function))
    }

    pub(crate) fn reads(&self) -> Reads {
        match self {
            Self::Metadata(_) => Reads::Metadata,
            Self::Field { .. } => Reads::Fields,
            Self::Object(_) => Reads::Value,
        }
    }

    pub(crate) fn field_path(&self) -> Option<&FieldPath> {
        match self {
            Self::Field { path, .. } => Some(path),
            Self::Metadata(_) | Self::Object(_) => None,
        }
    }

    /// Applies the function to `object`, or returns the reason why it has no result; `what` names the function.
    pub(crate) fn read(&self, object: &Object<K>, what: &str) -> Result<T, Arc<str>> {
        let outcome = catch_unwind(AssertUnwindSafe(|| self.call(object)));
        match outcome {
            Ok(Ok(read)) => Ok(read),
            Ok(Err(error)) => Err(error.to_string().into()),
            Err(panic) => {
                let message = panic_message(&*panic);
                Err(format!("the {what} panicked: {message}").into())
            }
        }
    }

    fn call(&self, object: &Object<K>) -> Result<T, BoxError> {
        match self {
            Self::Metadata(function) => Ok(function(object.metadata())),
            Self::Field { path, read, then } => Ok(then(read(object.get(), path)?)),
            Self::Object(function) => function(object),
        }
    }
}

impl<K, T> Clone for ObjectFn<K, T> {
    fn clone(&self) -> Self {
        match self {
            Self::Metadata(function) => Self::Metadata(Arc::clone(function)),
            Self::Field { path, read, then } => Self::Field {
                path: path.clone(),
                read: *read,
                then: Arc::clone(then),
            },
            Self::Object(function) => Self::Object(Arc::clone(function)),
        }
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no message")
}
