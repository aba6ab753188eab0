//! The metadata of an object, known without decoding it.

use std::{fmt, sync::Arc};

use super::{ObjectKey, ResourceVersion};

/// The part of an object's metadata that is parsed on arrival and stays beside it: free to read in every store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metadata {
    /// Namespace and name.
    pub key: ObjectKey,
    /// The uid; empty if the server gave none.
    pub uid: Arc<str>,
    /// The version of the object's last change.
    pub resource_version: ResourceVersion,
    /// The labels, sorted by key.
    pub labels: Labels,
    /// The objects that own this one.
    pub owners: Arc<[OwnerReference]>,
    /// True if deletion has begun (`deletionTimestamp` is set).
    pub is_terminating: bool,
}

/// The labels of an object, sorted by key.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Labels(Arc<[(Arc<str>, Arc<str>)]>);

/// One entry of `metadata.ownerReferences`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnerReference {
    /// The owner's API version, as in `apps/v1`.
    pub api_version: Arc<str>,
    /// The owner's kind.
    pub kind: Arc<str>,
    /// The owner's name, in the same namespace or cluster-scoped.
    pub name: Arc<str>,
    /// The owner's uid.
    pub uid: Arc<str>,
    /// True if the owner is the managing controller.
    pub is_controller: bool,
}

// === impl Metadata ===

impl Metadata {
    /// Reads the metadata of a decoded object.
    pub fn of<K: kube::Resource>(object: &K) -> Self {
        let meta = object.meta();
        let text = |value: &Option<String>| Arc::<str>::from(value.as_deref().unwrap_or_default());
        Self {
            key: ObjectKey::new(text(&meta.namespace), text(&meta.name)),
            uid: text(&meta.uid),
            resource_version: ResourceVersion::new(text(&meta.resource_version)),
            labels: meta
                .labels
                .iter()
                .flatten()
                .map(|(key, value)| (key.as_str(), value.as_str()))
                .collect(),
            owners: meta
                .owner_references
                .iter()
                .flatten()
                .map(|owner| OwnerReference {
                    api_version: owner.api_version.as_str().into(),
                    kind: owner.kind.as_str().into(),
                    name: owner.name.as_str().into(),
                    uid: owner.uid.as_str().into(),
                    is_controller: owner.controller == Some(true),
                })
                .collect(),
            is_terminating: meta.deletion_timestamp.is_some(),
        }
    }

    /// Returns whether two objects of one key are known to be different ones, by their uids.
    pub(crate) fn is_other_than(&self, other: &Self) -> bool {
        self.uid != other.uid && !self.uid.is_empty() && !other.uid.is_empty()
    }
}

// === impl Labels ===

impl Labels {
    /// The value of label `key`.
    pub fn get(&self, key: &str) -> Option<&str> {
        let at = self.0.binary_search_by(|(k, _)| (**k).cmp(key)).ok()?;
        Some(&self.0[at].1)
    }

    /// The labels in order of their keys.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (&**key, &**value))
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns whether the allocation has another holder.
    #[cfg(feature = "http")]
    pub(crate) fn is_shared(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    /// Returns whether both are one allocation.
    #[cfg(test)]
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<A: Into<Arc<str>>, B: Into<Arc<str>>> FromIterator<(A, B)> for Labels {
    fn from_iter<I: IntoIterator<Item = (A, B)>>(labels: I) -> Self {
        let mut labels: Vec<(Arc<str>, Arc<str>)> = labels
            .into_iter()
            .map(|(key, value)| (key.into(), value.into()))
            .collect();
        labels.sort();
        Self(labels.into())
    }
}

impl fmt::Debug for Labels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}
