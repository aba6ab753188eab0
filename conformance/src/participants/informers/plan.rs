//! The section of plans about informers and their handlers.

use std::num::NonZero;

use serde::{Deserialize, Serialize};

use crate::{
    participants::{ControllerPlan, within},
    plan::{Operator, Profile, Resource, Selection},
};

/// The most controllers and pauses of an informer.
const CONTROLLERS_MAX: usize = 3;
const PAUSES_MAX: usize = 3;
/// The most handlers of an informer: a crowd and some more.
const HANDLERS_MAX: usize = 52;

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
#[expect(clippy::exhaustive_enums, reason = "complete by definition")]
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

    /// Restores the invariants of drawn plans.
    pub(super) fn make_valid(&mut self, profile: Profile, safety_ms: u64) {
        self.start_ms = within(self.start_ms, safety_ms);
        let can_be_strict = self.can_be_strict();
        let selection = &mut self.selection;
        if !selection.resource.is_namespaced() {
            selection.namespace = None;
        }
        if selection.label.is_none() {
            selection.operator = Operator::default();
            selection.is_filtered = false;
        }
        selection.is_strict &= can_be_strict;
        self.pauses.truncate(PAUSES_MAX);
        for pause in &mut self.pauses {
            pause.at_ms = within(pause.at_ms, safety_ms);
            pause.for_ms = pause.for_ms.min((safety_ms - pause.at_ms).div_ceil(2));
        }
        self.pauses.sort_by_key(|pause| pause.at_ms);
        self.handlers.truncate(HANDLERS_MAX);
        for handler in &mut self.handlers {
            handler.make_valid(safety_ms);
        }
        self.controllers.truncate(CONTROLLERS_MAX);
        for controller in &mut self.controllers {
            controller.make_valid(profile, safety_ms);
        }
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

    /// Restores the invariants of drawn plans.
    fn make_valid(&mut self, safety_ms: u64) {
        self.join_ms = within(self.join_ms, safety_ms);
        self.leave_ms = self.leave_ms.map(|leave_ms| within(leave_ms, safety_ms));
        self.leave_ms = self.leave_ms.filter(|leave_ms| *leave_ms >= self.join_ms);
        if self.is_stream {
            self.panic_every = None;
        }
    }
}
