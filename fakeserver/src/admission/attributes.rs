//! What is about to be written, as webhooks are asked about it.

use std::sync::Arc;

use serde_json::Value;

use crate::{object::Pairs, resource::GroupVersionKind};

/// What is done to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Create,
    Update,
    Delete,
}

/// A version of a resource, by its plural.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Resource {
    pub(crate) group: Arc<str>,
    pub(crate) version: Arc<str>,
    pub(crate) plural: Arc<str>,
}

/// A write that waits for admission. Two are the same if a webhook could not tell them apart.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Attributes {
    pub(crate) operation: Operation,
    /// Of what is sent: that of the subresource, where it has one of its own.
    pub(crate) kind: GroupVersionKind,
    pub(crate) resource: Resource,
    /// Empty for the object itself.
    pub(crate) subresource: String,
    /// Empty for an object of the cluster; a namespace is in itself.
    pub(crate) namespace: String,
    /// Empty while the name is not generated yet.
    pub(crate) name: String,
    /// What is to be; nothing when it is deleted.
    pub(crate) object: Option<Value>,
    /// What is there; nothing when it is created.
    pub(crate) old_object: Option<Value>,
    pub(crate) options: Value,
    pub(crate) is_dry_run: bool,
    /// Who asks: `authentication.k8s.io/v1 UserInfo`.
    pub(crate) user: Value,
}

// === impl Operation ===

impl Operation {
    /// As rules and reviews name it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Create => "CREATE",
            Self::Update => "UPDATE",
            Self::Delete => "DELETE",
        }
    }

    /// The kind of the options of such a write.
    pub(crate) fn options_kind(self) -> &'static str {
        match self {
            Self::Create => "CreateOptions",
            Self::Update => "UpdateOptions",
            Self::Delete => "DeleteOptions",
        }
    }
}

// === impl Attributes ===

impl Attributes {
    /// Whether the object is a namespace, which is of the cluster and yet has its own name for a namespace.
    pub(super) fn is_namespace(&self) -> bool {
        self.resource.group.is_empty() && &*self.resource.plural == "namespaces"
    }
}

/// The labels of an object.
pub(super) fn labels_of(object: &Value) -> Pairs {
    let labels = object["metadata"]["labels"].as_object();
    let labels = labels.into_iter().flatten();
    labels
        .filter_map(|(label, value)| Some((label.as_str(), value.as_str()?)))
        .collect()
}
