//! Resource types: one version of a kind, as discovery describes it.

use std::sync::Arc;

use super::KindRef;
use crate::value::resource::{GroupVersionKind, api_version};

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
    /// The rules of the kind, which all its versions share.
    pub(crate) rules: KindRef,
}

/// A subresource, as in `pods/status`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Subresource {
    pub(crate) name: Arc<str>,
    /// The kind of its bodies; group and version are empty where they are the resource's.
    pub(crate) kind: GroupVersionKind,
    pub(crate) verbs: Vec<Arc<str>>,
}

// === impl ResourceType ===

impl ResourceType {
    /// As objects write it: `v1`, `apps/v1`.
    pub(crate) fn api_version(&self) -> String {
        api_version(&self.group, &self.version)
    }

    /// Returns the kind of its objects.
    pub(crate) fn group_version_kind(&self) -> GroupVersionKind {
        GroupVersionKind {
            group: Arc::clone(&self.group),
            version: Arc::clone(&self.version),
            kind: Arc::clone(&self.kind),
        }
    }

    /// Returns the kind of a list of its objects.
    #[cfg(feature = "openapi")]
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

    /// Returns whether `status` is written through a subresource of its own.
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
