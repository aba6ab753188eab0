//! The key of a stored object: its resource, namespace and name.

use std::{fmt, sync::Arc};

use fakeserver_value::resource::GroupResource;

/// The place of one object.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectKey {
    resource: GroupResource,
    /// `namespace/name`, or the name alone.
    path: Arc<str>,
    /// The length of the namespace, where there is one.
    namespace: Option<u32>,
}

// === impl ObjectKey ===

impl ObjectKey {
    pub fn namespaced(resource: GroupResource, namespace: &str, name: &str) -> Self {
        Self {
            resource,
            path: format!("{namespace}/{name}").into(),
            namespace: Some(u32::try_from(namespace.len()).expect("a URL is shorter than that")),
        }
    }

    pub fn cluster(resource: GroupResource, name: &str) -> Self {
        Self {
            resource,
            path: name.into(),
            namespace: None,
        }
    }

    /// The key of a resource that may or may not have namespaces.
    pub fn new(resource: GroupResource, namespace: Option<&str>, name: &str) -> Self {
        match namespace {
            Some(namespace) => Self::namespaced(resource, namespace, name),
            None => Self::cluster(resource, name),
        }
    }

    pub fn resource(&self) -> &GroupResource {
        &self.resource
    }

    pub fn namespace(&self) -> Option<&str> {
        self.namespace.map(|length| &self.path[..length as usize])
    }

    pub fn name(&self) -> &str {
        match self.namespace {
            Some(length) => &self.path[length as usize + 1..],
            None => &self.path,
        }
    }

    /// `namespace/name`, or the name alone: what objects are ordered by, byte for byte.
    pub fn path(&self) -> &Arc<str> {
        &self.path
    }
}

impl fmt::Display for ObjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)
    }
}
