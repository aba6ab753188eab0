//! The attributes of a write, as webhooks see them.

use std::sync::Arc;

use fakeserver_kinds::{ResourceType, registry::Registry};
use fakeserver_value::{object::Pairs, resource::GroupVersionKind};
use serde_json::Value;

use crate::write::Target;

/// The versions of a resource, with the kind of a request for it in each.
pub type Versions = Vec<(Resource, GroupVersionKind)>;

/// The operation on an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Create,
    Update,
    Delete,
}

/// A version of a resource, by its plural.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    pub group: Arc<str>,
    pub version: Arc<str>,
    pub plural: Arc<str>,
}

/// A write for admission. Two are equal if a webhook could not distinguish them.
#[derive(Clone, Debug, PartialEq)]
pub struct Attributes {
    pub operation: Operation,
    /// Of what is sent: that of the subresource, where it has one of its own.
    pub kind: GroupVersionKind,
    pub resource: Resource,
    /// Empty for the object itself.
    pub subresource: String,
    /// Empty for an object of the cluster; a namespace is in itself.
    pub namespace: String,
    /// The labels of the namespace, if it exists.
    pub namespace_labels: Option<Pairs>,
    /// Empty while the name is not generated yet.
    pub name: String,
    /// The new object; `None` for a deletion.
    pub object: Option<Value>,
    /// The present object; `None` for a creation.
    pub old_object: Option<Value>,
    pub options: Value,
    pub is_dry_run: bool,
    /// The requester: `authentication.k8s.io/v1 UserInfo`.
    pub user: Value,
}

// === impl Operation ===

impl Operation {
    /// Returns the operation's name in rules and reviews.
    pub fn name(self) -> &'static str {
        match self {
            Self::Create => "CREATE",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
        }
    }

    /// Returns the kind of the operation's options.
    pub fn options_kind(self) -> &'static str {
        match self {
            Self::Create => "CreateOptions",
            Self::Update => "UpdateOptions",
            Self::Delete => "DeleteOptions",
        }
    }
}

// === impl Attributes ===

impl Attributes {
    /// Returns whether the object is a namespace, which is cluster-scoped and yet has its own name for a namespace.
    pub fn is_namespace(&self) -> bool {
        self.resource.group.is_empty() && &*self.resource.plural == "namespaces"
    }
}

/// Returns the versions of the resource of `target`.
pub fn versions_of(registry: &Registry, target: &Target) -> Versions {
    let group = registry.group(&target.resource.group);
    let versions = group.into_iter().flat_map(|group| &group.versions);
    let resources = versions.flat_map(|version| &version.resources);
    resources
        .filter(|resource| resource.plural == target.resource.plural)
        .map(|resource| {
            (
                resource_of(resource),
                kind_below(resource, target.subresource()),
            )
        })
        .collect()
}

/// Returns the version of a resource.
pub fn resource_of(resource: &ResourceType) -> Resource {
    Resource {
        group: Arc::clone(&resource.group),
        version: Arc::clone(&resource.version),
        plural: Arc::clone(&resource.plural),
    }
}

/// Returns the kind of what is sent to a subresource, or to the object itself.
pub fn kind_below(resource: &ResourceType, subresource: &str) -> GroupVersionKind {
    match resource.subresource(subresource) {
        Some(below) if !below.kind.version.is_empty() => below.kind.clone(),
        Some(below) => GroupVersionKind {
            kind: Arc::clone(&below.kind.kind),
            ..resource.group_version_kind()
        },
        None => resource.group_version_kind(),
    }
}

/// Returns the labels of an object.
pub(super) fn labels_of(object: &Value) -> Pairs {
    let labels = object["metadata"]["labels"].as_object();
    let labels = labels.into_iter().flatten();
    labels
        .filter_map(|(label, value)| Some((label.as_str(), value.as_str()?)))
        .collect()
}
