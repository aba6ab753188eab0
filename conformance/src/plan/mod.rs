//! The parts of [plans](crate::sim::Plan), and how they are drawn.

mod resource;
mod planned_fault;
mod incident;
mod in_words;
mod interleaving;
mod profile;
mod operator;
pub(crate) mod swarm;
pub(crate) mod drawn_faults;
pub(crate) mod contents;
pub(crate) mod forms;
pub(crate) mod handler_forms;
pub(crate) mod pauses;
pub(crate) mod controllers;

use std::num::NonZero;

use serde::{Deserialize, Serialize};

pub use self::{
    contents::Content,
    controllers::{ControllerPlan, QueueAction, QueueOperation, QueueStop},
    incident::{Incident, IncidentKind},
    interleaving::Interleaving,
    operator::Operator,
    planned_fault::PlannedFault,
    profile::Profile,
    resource::{LABEL, NAMESPACES, Resource, SLOT, SPOILED, Tier},
};
pub(crate) use self::{forms::INDEX_EDITS_MAX, in_words::in_words, profile::Size};

/// One informer and its handlers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct InformerPlan {
    /// The selection that it mirrors.
    pub selection: Selection,
    /// The time of its start.
    pub start_ms: u64,
    /// The number of items in a page.
    pub page_size: u32,
    /// True if it streams its lists, where the server can.
    pub streaming_lists: bool,
    /// The minimal duration of its watches; the maximal one is twice that.
    pub watch_timeout_s: u64,
    /// The encoding in which it asks for objects.
    #[serde(default, skip_serializing_if = "PlannedEncoding::is_json")]
    pub encoding: PlannedEncoding,
    /// True if it holds its objects as compressed bytes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub compact: bool,
    /// True if it signs its objects by a transform.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub transforms: bool,
    /// The maximal number of changes between its store and its cache; the default if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_max: Option<usize>,
    /// The maximal size of the chunks in which it receives bodies; as the server writes them if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunk_max_bytes: Option<NonZero<usize>>,
    /// The interval in which an index is added to it and removed, by turns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index_edit_ms: Option<u64>,
    /// The times in which it is paused, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pauses: Vec<Pause>,
    /// The handlers.
    pub handlers: Vec<HandlerPlan>,
    /// The controllers, each with a queue of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub controllers: Vec<ControllerPlan>,
}

/// The encoding in which an informer asks for objects. The server may answer in JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(
    clippy::exhaustive_enums,
    reason = "complete by definition: those that API servers have"
)]
pub enum PlannedEncoding {
    /// JSON.
    #[default]
    Json,
    /// Protobuf, for built-in types and metadata.
    Protobuf,
    /// CBOR.
    Cbor,
}

/// A time in which an informer makes no request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Pause {
    /// Its beginning.
    pub at_ms: u64,
    /// Its duration. It ends with safety at the latest.
    pub for_ms: u64,
}

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
    /// [can](InformerPlan::can_be_strict) have such a type.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_strict: bool,
}

/// One handler.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct HandlerPlan {
    /// The time at which it joins, which may precede the informer's start.
    pub join_ms: u64,
    /// The time at which it leaves, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leave_ms: Option<u64>,
    /// True if the end of its last call is awaited then; its registration is dropped otherwise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_removal_awaited: bool,
    /// The number of the notification in which it leaves by itself, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leave_at_count: Option<u32>,
    /// The period of resyncs, if it wants any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resync_ms: Option<u64>,
    /// The interval of notifications in which it panics, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub panic_every: Option<u32>,
    /// The time that each of its calls takes, if they are awaited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_ms: Option<u64>,
    /// The time for which each of its calls blocks its thread, in runs that have several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_ms: Option<u64>,
    /// The number of live changes that wait for it in order, beyond which they are merged; the default if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer_max: Option<usize>,
    /// The adapter of `informer` through which it is notified, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adapter: Option<Adapter>,
    /// True if it reads its notifications from a stream.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_stream: bool,
}

/// An adapter between an informer and a handler.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Adapter {
    /// It is made of closures.
    Closures,
    /// Beside it, a second handler is notified through a filter.
    Filter,
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

// === impl PlannedEncoding ===

impl PlannedEncoding {
    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "serde calls it with a reference"
    )]
    fn is_json(&self) -> bool {
        *self == Self::Json
    }
}

// === impl InformerPlan ===

impl InformerPlan {
    /// Creates an informer of all objects of a resource, with one handler.
    pub fn of(resource: Resource) -> Self {
        Self {
            selection: Selection::all(resource),
            start_ms: 0,
            page_size: 500,
            streaming_lists: true,
            watch_timeout_s: 300,
            encoding: PlannedEncoding::default(),
            compact: false,
            transforms: false,
            queue_max: None,
            chunk_max_bytes: None,
            index_edit_ms: None,
            pauses: Vec::new(),
            handlers: vec![HandlerPlan::default()],
            controllers: Vec::new(),
        }
    }

    /// Returns true if its type can refuse an object before it is in the cache: compact ones are decoded by their readers.
    pub fn can_be_strict(&self) -> bool {
        self.selection.resource.is_typed() && !self.compact
    }
}

// === impl HandlerPlan ===

impl HandlerPlan {
    /// Returns the same handler for a run on a paused clock, where no call can block its thread.
    #[must_use]
    pub(crate) fn unblocked(&self) -> Self {
        Self {
            block_ms: None,
            ..self.clone()
        }
    }
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
