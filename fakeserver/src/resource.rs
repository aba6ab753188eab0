//! A resource type: what a path names, and what may be done with it.

use std::sync::Arc;

use crate::custom_resources::CustomType;

/// A group, a version of it, and a kind in that.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct GroupVersionKind {
    pub(crate) group: Arc<str>,
    pub(crate) version: Arc<str>,
    pub(crate) kind: Arc<str>,
}

/// One version of one resource, as discovery tells of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ResourceType {
    pub(crate) group: Arc<str>,
    pub(crate) version: Arc<str>,
    pub(crate) plural: Arc<str>,
    pub(crate) singular: Arc<str>,
    pub(crate) kind: Arc<str>,
    /// The kind of a list of them, if it is not the usual one.
    pub(crate) list_kind: Option<Arc<str>>,
    pub(crate) is_namespaced: bool,
    pub(crate) verbs: Vec<Arc<str>>,
    pub(crate) short_names: Vec<Arc<str>>,
    pub(crate) categories: Vec<Arc<str>>,
    pub(crate) subresources: Vec<Subresource>,
    /// What its definition says of its objects, if it is a custom one.
    pub(crate) custom: Option<Arc<CustomType>>,
}

/// A subresource, as in `pods/status`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Subresource {
    pub(crate) name: Arc<str>,
    /// The kind of its bodies; group and version are empty where they are the resource's.
    pub(crate) kind: GroupVersionKind,
    pub(crate) verbs: Vec<Arc<str>>,
}

// === impl GroupVersionKind ===

impl GroupVersionKind {
    pub(crate) fn new(group: &str, version: &str, kind: &str) -> Self {
        Self {
            group: group.into(),
            version: version.into(),
            kind: kind.into(),
        }
    }

    /// As objects write it: `v1`, `apps/v1`.
    pub(crate) fn api_version(&self) -> String {
        api_version(&self.group, &self.version)
    }
}

// === impl ResourceType ===

impl ResourceType {
    /// As objects write it: `v1`, `apps/v1`.
    pub(crate) fn api_version(&self) -> String {
        api_version(&self.group, &self.version)
    }

    /// What its objects are.
    pub(crate) fn group_version_kind(&self) -> GroupVersionKind {
        GroupVersionKind {
            group: Arc::clone(&self.group),
            version: Arc::clone(&self.version),
            kind: Arc::clone(&self.kind),
        }
    }

    /// What a list of its objects is.
    pub(crate) fn list_kind(&self) -> Arc<str> {
        let usual = || format!("{}List", self.kind).into();
        self.list_kind.clone().unwrap_or_else(usual)
    }

    pub(crate) fn has_verb(&self, verb: &str) -> bool {
        self.verbs.iter().any(|known| &**known == verb)
    }

    pub(crate) fn subresource(&self, name: &str) -> Option<&Subresource> {
        self.subresources
            .iter()
            .find(|subresource| &*subresource.name == name)
    }

    /// Whether `status` is written through a subresource of its own.
    pub(crate) fn has_status(&self) -> bool {
        self.subresource("status").is_some()
    }
}

// === impl Subresource ===

impl Subresource {
    pub(crate) fn has_verb(&self, verb: &str) -> bool {
        self.verbs.iter().any(|known| &**known == verb)
    }
}

/// A group and a version as objects write them.
pub(crate) fn api_version(group: &str, version: &str) -> String {
    if group.is_empty() {
        version.to_owned()
    } else {
        format!("{group}/{version}")
    }
}
