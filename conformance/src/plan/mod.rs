//! A plan: all that determines a simulated run, as a value with a text form.
//!
//! Drawn from a [`Seed`] by [`Plan::draw`] in a [`Profile`], made smaller by [`shrink`], written and read as JSON with an element a line.

mod resource;
mod fault_kind;
mod incident;
mod interleaving;
mod profile;
mod swarm;
mod drawn_faults;
mod draw;
mod text;
mod hasten;
pub mod shrink;

use serde::{Deserialize, Serialize};

use crate::seed::Seed;

pub use self::{
    fault_kind::FaultKind,
    incident::{Incident, IncidentKind},
    interleaving::Interleaving,
    profile::Profile,
    resource::{LABEL, NAMESPACES, Resource, Tier},
};

/// One run, before it happens. The same plan gives the same trace, to the byte.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Plan {
    /// Where the server's uids, the informers' jitter and the faults' places come from.
    pub seed: Seed,
    /// How long faults and operations go on, in simulated milliseconds; then faults end and caches have to converge.
    pub safety_ms: u64,
    /// How often tasks let others go first.
    #[serde(default, skip_serializing_if = "Interleaving::is_none")]
    pub interleaving: Interleaving,
    /// What is under test.
    pub informers: Vec<InformerPlan>,
    /// What happens to the cluster, in order of time. What is at 0 is there before the informers start.
    pub workload: Vec<Operation>,
    /// What goes wrong, in order of time.
    pub faults: Vec<Fault>,
    /// What happens to the machines, in order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub incidents: Vec<Incident>,
}

/// One informer and its handlers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct InformerPlan {
    /// What it mirrors.
    pub selection: Selection,
    /// When it starts.
    pub start_ms: u64,
    /// How many items it asks for in a page.
    pub page_size: u32,
    /// Whether it streams its lists where the server can.
    pub streaming_lists: bool,
    /// How long its watches last at least; at most it is twice that.
    pub watch_timeout_s: u64,
    /// How many changes may wait between its store and its cache; as many as ever if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue_max: Option<usize>,
    /// Who hears of changes.
    pub handlers: Vec<HandlerPlan>,
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
    /// The value of [`LABEL`]; any or none if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

/// One handler.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct HandlerPlan {
    /// When it joins; before the informer's start is fine.
    pub join_ms: u64,
    /// When it leaves, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leave_ms: Option<u64>,
    /// At which of its notifications it leaves by itself, if it does: from within that call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leave_at_count: Option<u32>,
    /// How often it wants to hear of everything again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resync_ms: Option<u64>,
    /// Whether it panics at every so many-th notification.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub panic_every: Option<u32>,
}

/// One thing that happens to the cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Operation {
    /// When.
    pub at_ms: u64,
    /// To an object of which resource.
    pub resource: Resource,
    /// To which of its objects; the number gives namespace and name.
    pub slot: u8,
    /// What.
    pub action: Action,
}

/// What happens to an object. What cannot be done (an update of what is not there) is refused by the server, and no harm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Action {
    /// It is created with this label.
    Create(Tier),
    /// Its content changes (read and PUT).
    Update,
    /// Its label changes (merge patch), so that it enters or leaves selections.
    Relabel(Tier),
    /// It is deleted.
    Delete,
    /// It is deleted and made anew under the same name, with this label, before anybody can look.
    Recreate(Tier),
    /// It gets a finalizer, so that its deletion waits.
    Hold,
    /// It loses its finalizers, which completes a waiting deletion.
    Release,
}

/// One thing that goes wrong.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Fault {
    /// From when.
    pub at_ms: u64,
    /// For how long the server does it; what happens once ignores this.
    pub for_ms: u64,
    /// To which informer, by its place in the plan; to all if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub informer: Option<usize>,
    /// How many occasions it lets pass first: requests or frames, whichever it is about.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub skip: u64,
    /// How often it happens at most; at every occasion if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<u64>,
    /// What.
    #[serde(deserialize_with = "fault_kind::read")]
    pub kind: FaultKind,
}

// === impl Plan ===

impl Plan {
    /// A plan in which nothing happens and nobody watches.
    pub fn empty(seed: Seed) -> Self {
        Self {
            seed,
            safety_ms: 10_000,
            interleaving: Interleaving::default(),
            informers: Vec::new(),
            workload: Vec::new(),
            faults: Vec::new(),
            incidents: Vec::new(),
        }
    }
}

// === impl InformerPlan ===

impl InformerPlan {
    /// An informer on all of a resource, with one handler.
    pub fn of(resource: Resource) -> Self {
        Self {
            selection: Selection::all(resource),
            start_ms: 0,
            page_size: 500,
            streaming_lists: true,
            watch_timeout_s: 300,
            queue_max: None,
            handlers: vec![HandlerPlan::default()],
        }
    }
}

// === impl Selection ===

impl Selection {
    /// All objects of a resource.
    pub fn all(resource: Resource) -> Self {
        Self {
            resource,
            namespace: None,
            label: None,
        }
    }

    /// Whether an object of this namespace (empty if it has none) and label is part of it.
    pub fn contains(&self, namespace: &str, label: Option<&str>) -> bool {
        self.namespace
            .as_deref()
            .is_none_or(|wanted| wanted == namespace)
            && self
                .label
                .as_deref()
                .is_none_or(|wanted| Some(wanted) == label)
    }

    /// The label selector, as a query writes it.
    pub fn label_selector(&self) -> Option<String> {
        self.label.as_ref().map(|value| format!("{LABEL}={value}"))
    }
}

// === impl Operation ===

impl Operation {
    /// The operation `action` on an object at a time.
    pub fn new(at_ms: u64, resource: Resource, slot: u8, action: Action) -> Self {
        Self {
            at_ms,
            resource,
            slot,
            action,
        }
    }
}

// === impl Fault ===

impl Fault {
    /// The fault `kind` for everybody at every occasion, from a time on for a while.
    pub fn new(at_ms: u64, for_ms: u64, kind: FaultKind) -> Self {
        Self {
            at_ms,
            for_ms,
            informer: None,
            skip: 0,
            times: None,
            kind,
        }
    }

    /// The fault for one informer, by its place in the plan.
    #[must_use]
    pub fn for_informer(mut self, informer: usize) -> Self {
        self.informer = Some(informer);
        self
    }

    /// The fault after so many occasions were let pass.
    #[must_use]
    pub fn after(mut self, skip: u64) -> Self {
        self.skip = skip;
        self
    }

    /// The fault at so many occasions at most.
    #[must_use]
    pub fn times(mut self, times: u64) -> Self {
        self.times = Some(times);
        self
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde calls it with a reference"
)]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[cfg(test)]
mod tests;
