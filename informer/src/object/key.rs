//! The key of an object: its namespace and name.

use std::{fmt, sync::Arc};

/// Identifies an object of one resource: namespace and name, printed `namespace/name`, or `name` when cluster-scoped.
///
/// The uid is not part of it: an object that was deleted and recreated has the same key. Keys order by namespace, then
/// name, byte for byte, as the API server lists them.
///
/// # Memory
///
/// A clone is two reference counts.
#[doc(alias = "MetaNamespaceKeyFunc")]
#[doc(alias = "ObjectName")]
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectKey {
    namespace: Arc<str>,
    name: Arc<str>,
}

// === impl ObjectKey ===

impl ObjectKey {
    /// The key of `name` in `namespace`; an empty namespace means cluster-scoped.
    pub fn new(namespace: impl Into<Arc<str>>, name: impl Into<Arc<str>>) -> Self {
        Self {
            namespace: namespace.into(),
            name: name.into(),
        }
    }

    /// The key of a cluster-scoped object.
    pub fn cluster(name: impl Into<Arc<str>>) -> Self {
        Self::new("", name)
    }

    /// The namespace, empty for cluster-scoped objects.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.namespace.is_empty() {
            f.write_str(&self.name)
        } else {
            write!(f, "{}/{}", self.namespace, self.name)
        }
    }
}

impl fmt::Debug for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{self}\"")
    }
}
