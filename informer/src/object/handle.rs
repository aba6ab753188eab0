//! The handle that stores, handlers and listers pass around.

use std::{fmt, sync::Arc};

use super::{DecodeError, Labels, Metadata, ObjectKey, OwnerReference, ResourceVersion};
use crate::{
    compact::{Cell, Change},
    reading::BoxError,
};

/// One version of one object, shared by the store, the handlers and everybody who read it.
///
/// Key, uid, version, labels and owners are free to read; [`get`](Self::get) gives the object itself.
/// What a handle shows never changes: a new version of the object is a new handle. Whoever wants to change something clones
/// the object first; this does not compile:
///
/// ```compile_fail
/// # use informer::Object;
/// # use k8s_openapi::api::core::v1::Pod;
/// fn change(pod: &Object<Pod>) {
///     pod.get().unwrap().spec = None;
/// }
/// ```
///
/// # Memory
///
/// A clone is one reference count. A version lives until the last handle to it is dropped. How much it takes is the choice of
/// the informer: see [`compact`](crate::compact).
pub struct Object<K>(Arc<Inner<K>>);

struct Inner<K> {
    metadata: Metadata,
    value: Value<K>,
    is_transformed: bool,
}

/// As what the object itself is held.
enum Value<K> {
    Typed(Arc<K>),
    Compact(Arc<Cell<K>>),
    /// Changed by the function whenever it is decoded.
    CompactChanged(Arc<Cell<K>>, Arc<Change<K>>),
}

// === impl Object ===

impl<K> Object<K> {
    /// A handle to `value`, whose metadata was parsed before.
    ///
    /// The two must belong together; see [`Object::from_value`] for the safe way to make one.
    pub fn new(metadata: Metadata, value: K) -> Self {
        Self::of(metadata, Value::Typed(Arc::new(value)), false)
    }

    /// A handle to an object that is decoded when it is looked into.
    pub(crate) fn compact(metadata: Metadata, cell: Arc<Cell<K>>) -> Self {
        Self::of(metadata, Value::Compact(cell), false)
    }

    fn of(metadata: Metadata, value: Value<K>, is_transformed: bool) -> Self {
        Self(Arc::new(Inner {
            metadata,
            value,
            is_transformed,
        }))
    }

    /// A handle to `value`, whose metadata is read from it.
    pub fn from_value(value: K) -> Self
    where
        K: kube::Resource,
    {
        Self::new(Metadata::of(&value), value)
    }

    /// Namespace and name.
    pub fn key(&self) -> &ObjectKey {
        &self.0.metadata.key
    }

    /// The uid; empty if the server gave none.
    pub fn uid(&self) -> &str {
        &self.0.metadata.uid
    }

    /// The version of the object's last change.
    pub fn resource_version(&self) -> &ResourceVersion {
        &self.0.metadata.resource_version
    }

    /// The labels.
    pub fn labels(&self) -> &Labels {
        &self.0.metadata.labels
    }

    /// The objects that own this one.
    pub fn owners(&self) -> &[OwnerReference] {
        &self.0.metadata.owners
    }

    /// All that is known without decoding.
    pub fn metadata(&self) -> &Metadata {
        &self.0.metadata
    }

    /// The object itself.
    ///
    /// # Errors
    ///
    /// In a typed store never: what does not decode does not enter it. A store of [compact](crate::compact) objects decodes
    /// here, and reports what its type does not accept; trying again gives the same answer.
    pub fn get(&self) -> Result<Arc<K>, DecodeError> {
        let read = match &self.0.value {
            Value::Typed(value) => Ok(Arc::clone(value)),
            Value::Compact(cell) => cell.get(None),
            Value::CompactChanged(cell, change) => cell.get(Some(&**change)),
        };
        read.map_err(|source| DecodeError {
            key: self.key().clone(),
            resource_version: self.resource_version().clone(),
            source,
        })
    }

    /// What `read` finds in the object's JSON, where that is at hand: then nothing needs to be built. Kind and API version may
    /// be missing in it.
    pub(crate) fn read_json<T>(&self, read: impl FnOnce(&str) -> T) -> Option<T> {
        match &self.0.value {
            Value::Compact(cell) => cell.plain_json(read),
            Value::Typed(_) | Value::CompactChanged(..) => None,
        }
    }

    /// This version with its value changed. The metadata stay as they arrived.
    ///
    /// A typed value is changed now, and copied only if somebody else holds it; a compact one whenever it is decoded.
    ///
    /// # Errors
    ///
    /// A typed value for which `change` fails.
    pub(crate) fn try_transform(self, change: &Arc<Change<K>>) -> Result<Self, BoxError>
    where
        K: Clone,
    {
        let (metadata, value) = match Arc::try_unwrap(self.0) {
            Ok(inner) => (inner.metadata, inner.value),
            Err(shared) => (shared.metadata.clone(), shared.value.clone()),
        };
        let value = match value {
            Value::Typed(value) => {
                let mut value = Arc::unwrap_or_clone(value);
                change(&mut value)?;
                Value::Typed(Arc::new(value))
            }
            Value::Compact(cell) | Value::CompactChanged(cell, _) => {
                Value::CompactChanged(cell, Arc::clone(change))
            }
        };
        Ok(Self::of(metadata, value, true))
    }

    /// Whether this handle was made by [`try_transform`](Self::try_transform).
    pub(crate) fn is_transformed(&self) -> bool {
        self.0.is_transformed
    }

    /// Whether two handles are the same version in the same allocation, not merely equal.
    #[doc(alias = "Arc::ptr_eq")]
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<K> Clone for Value<K> {
    fn clone(&self) -> Self {
        match self {
            Self::Typed(value) => Self::Typed(Arc::clone(value)),
            Self::Compact(cell) => Self::Compact(Arc::clone(cell)),
            Self::CompactChanged(cell, change) => {
                Self::CompactChanged(Arc::clone(cell), Arc::clone(change))
            }
        }
    }
}

impl<K> Clone for Object<K> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<K> fmt::Debug for Object<K> {
    /// Key and version, never the content: objects hold secrets, and debug output ends in logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.key(), self.resource_version())
    }
}
