//! The handle that stores, handlers and listers pass around.

use std::{fmt, sync::Arc};

use super::{DecodeError, Labels, Metadata, ObjectKey, OwnerReference, ResourceVersion};

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
/// A clone is one reference count. A version lives until the last handle to it is dropped.
pub struct Object<K>(Arc<Inner<K>>);

struct Inner<K> {
    metadata: Metadata,
    value: Arc<K>,
    is_transformed: bool,
}

// === impl Object ===

impl<K> Object<K> {
    /// A handle to `value`, whose metadata was parsed before.
    ///
    /// The two must belong together; see [`Object::from_value`] for the safe way to make one.
    pub fn new(metadata: Metadata, value: K) -> Self {
        Self(Arc::new(Inner {
            metadata,
            value: Arc::new(value),
            is_transformed: false,
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
    /// In a typed store never: what does not decode does not enter it. A store of compressed objects decodes here, and
    /// reports what its type does not accept; trying again gives the same answer.
    pub fn get(&self) -> Result<Arc<K>, DecodeError> {
        Ok(Arc::clone(&self.0.value))
    }

    /// This version with its value changed by `transform`. The metadata stay as they arrived.
    ///
    /// The value is copied only if somebody else holds it.
    pub(crate) fn try_transform<E>(
        self,
        transform: impl FnOnce(&mut K) -> Result<(), E>,
    ) -> Result<Self, E>
    where
        K: Clone,
    {
        let (metadata, value) = match Arc::try_unwrap(self.0) {
            Ok(inner) => (inner.metadata, inner.value),
            Err(shared) => (shared.metadata.clone(), Arc::clone(&shared.value)),
        };
        let mut value = Arc::unwrap_or_clone(value);
        transform(&mut value)?;
        Ok(Self(Arc::new(Inner {
            metadata,
            value: Arc::new(value),
            is_transformed: true,
        })))
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
