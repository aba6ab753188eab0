//! The parts of [plans](crate::sim::Plan) that all participants share, and how they are drawn.

mod resource;
mod planned_fault;
mod kubernetes_version;
mod incident;
mod in_words;
mod interleaving;
mod profile;
mod operator;
pub(crate) mod swarm;
pub(crate) mod drawn_faults;
pub(crate) mod contents;

use serde::{Deserialize, Serialize};

pub use self::{
    contents::Content,
    incident::{Incident, IncidentKind},
    interleaving::Interleaving,
    operator::Operator,
    planned_fault::PlannedFault,
    profile::Profile,
    resource::{LABEL, NAMESPACES, Resource, SLOT, SPOILED, Tier},
};
pub(crate) use self::{in_words::in_words, profile::Size};

/// The part of a resource that an informer mirrors.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Selection {
    /// The resource.
    pub resource: Resource,
    /// The namespace; all if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The value of [`LABEL`] in the selector; there is no selector if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The operator of the selector.
    #[serde(default, skip_serializing_if = "Operator::is_equal")]
    pub operator: Operator,
    /// True if the informer selects by label with a filter of its own, and the server sends objects of any label.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_filtered: bool,
    /// True if the informer's type refuses objects that are [spoiled](SPOILED): for it they do not exist. Only some informers
    /// can have such a type.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_strict: bool,
}

/// An operation on the cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Operation {
    /// The time.
    pub at_ms: u64,
    /// The resource of the object.
    pub resource: Resource,
    /// The number of the object, which determines namespace and name.
    pub slot: u8,
    /// The action.
    pub action: Action,
}

/// An action on an object. The server rejects impossible ones, such as an update of an object that does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Action {
    /// Creates it with this label.
    Create(Tier),
    /// Changes its content (read and PUT).
    Update,
    /// Changes its label (merge patch), so that it enters or leaves selections.
    Relabel(Tier),
    /// Deletes it.
    Delete,
    /// Deletes it and creates it again under the same name, with this label, before any client can see that.
    Recreate(Tier),
    /// Adds a finalizer, so that its deletion waits.
    Hold,
    /// Removes its finalizers, which completes a waiting deletion.
    Release,
    /// Makes it undecodable for [strict](Selection::is_strict) informers, by a label.
    Spoil,
    /// Makes it decodable again.
    Heal,
}

// === impl Selection ===

impl Selection {
    /// Selects all objects of a resource.
    pub fn all(resource: Resource) -> Self {
        Self {
            resource,
            namespace: None,
            label: None,
            operator: Operator::default(),
            is_filtered: false,
            is_strict: false,
        }
    }

    /// Returns the selection of the server's lists and watches.
    #[must_use]
    pub fn served(&self) -> Self {
        Self {
            label: self.label.clone().filter(|_| !self.is_filtered),
            ..self.plain()
        }
    }

    /// Returns the same selection, all of it made by the server: for informers without filters, whose types refuse nothing.
    #[must_use]
    pub fn plain(&self) -> Self {
        Self {
            is_filtered: false,
            is_strict: false,
            ..self.clone()
        }
    }

    /// Returns true for an object of this namespace (empty if it has none) and label, which may be spoiled.
    pub fn contains(&self, namespace: &str, label: Option<&str>, is_spoiled: bool) -> bool {
        !(self.is_strict && is_spoiled)
            && self
                .namespace
                .as_deref()
                .is_none_or(|wanted| wanted == namespace)
            && self.selects(label)
    }

    /// Returns true for an object of this label.
    pub fn selects(&self, label: Option<&str>) -> bool {
        self.label
            .as_deref()
            .is_none_or(|value| self.operator.selects(value, label))
    }

    /// Formats the label selector for a query.
    pub fn label_selector(&self) -> Option<String> {
        self.label
            .as_deref()
            .map(|value| self.operator.selector(value))
    }
}

// === impl Operation ===

impl Operation {
    /// Creates an operation.
    pub fn new(at_ms: u64, resource: Resource, slot: u8, action: Action) -> Self {
        Self {
            at_ms,
            resource,
            slot,
            action,
        }
    }
}
