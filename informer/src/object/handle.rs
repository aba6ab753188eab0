//! The handle that stores, handlers and listers pass around.

use std::{fmt, sync::Arc};

use super::{Labels, Metadata, ObjectKey, OwnerReference, ResourceVersion};

/// A shared, immutable handle to one version of one object.
///
/// Stores, handlers and readers share the same object. [`get`](Self::get) reads the object itself; [`key`](Self::key),
/// [`uid`](Self::uid), [`labels`](Self::labels) and the other methods read the metadata that were parsed when it arrived.
/// A new version of the object is a new handle: the object behind a handle never changes. To change something, clone the
/// object first; this does not compile:
///
/// ```compile_fail
/// # use informer::Object;
/// # use k8s_openapi::api::core::v1::Pod;
/// fn change(pod: &Object<Pod>) {
///     pod.get().spec = None;
/// }
/// ```
///
/// # Examples
///
/// ```
/// use informer::Object;
/// use k8s_openapi::api::core::v1::Pod;
///
/// fn node(pod: &Object<Pod>) -> Option<&str> {
///     pod.get().spec.as_ref()?.node_name.as_deref()
/// }
///
/// let pod: Pod = serde_json::from_value(serde_json::json!({
///     "metadata": {"namespace": "default", "name": "web-0"},
///     "spec": {"nodeName": "node-1", "containers": []},
/// }))?;
/// let pod = Object::new(pod);
/// assert_eq!(node(&pod), Some("node-1"));
/// assert_eq!(pod.key().to_string(), "default/web-0");
/// # Ok::<(), serde_json::Error>(())
/// ```
///
/// # Memory
///
/// A clone is one reference count. A version lives until the last handle to it is dropped. The size of the object depends on
/// the type that the informer holds: see [`compact`](crate::compact).
pub struct Object<K>(Arc<Inner<K>>);

struct Inner<K> {
    metadata: Metadata,
    value: Arc<K>,
    is_transformed: bool,
}

// === impl Object ===

impl<K> Object<K> {
    /// Creates a handle to `value`, whose metadata are read from it.
    pub fn new(value: K) -> Self
    where
        K: kube::Resource,
    {
        Self::from_parts(Metadata::of(&value), Arc::new(value))
    }

    /// Creates a handle to `value` from the metadata that were parsed before it. The two must belong together.
    pub(crate) fn from_parts(metadata: Metadata, value: Arc<K>) -> Self {
        Self(Arc::new(Inner {
            metadata,
            value,
            is_transformed: false,
        }))
    }

    /// Creates a handle whose metadata may differ from those in `value`.
    #[cfg(feature = "unstable-stages")]
    pub fn with_metadata(metadata: Metadata, value: impl Into<Arc<K>>) -> Self {
        Self::from_parts(metadata, value.into())
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

    /// The object itself, in the allocation that all its handles share.
    pub fn get(&self) -> &Arc<K> {
        &self.0.value
    }

    /// Replaces the value by the result of `change`. The metadata stay as they arrived.
    ///
    /// `change` receives the only handle to the value if the object has no other holder.
    ///
    /// # Errors
    ///
    /// Fails if `change` does.
    pub(crate) fn try_transform<E>(
        self,
        change: impl FnOnce(Arc<K>) -> Result<Arc<K>, E>,
    ) -> Result<Self, E> {
        let (metadata, value) = match Arc::try_unwrap(self.0) {
            Ok(inner) => (inner.metadata, inner.value),
            Err(shared) => (shared.metadata.clone(), Arc::clone(&shared.value)),
        };
        Ok(Self(Arc::new(Inner {
            metadata,
            value: change(value)?,
            is_transformed: true,
        })))
    }

    /// Returns whether this handle was made by [`try_transform`](Self::try_transform).
    pub(crate) fn is_transformed(&self) -> bool {
        self.0.is_transformed
    }

    /// Returns whether two handles are the same version in the same allocation, not merely equal.
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
