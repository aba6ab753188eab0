//! A plan: everything that determines a simulated run, as a value with a text form.
//!
//! [`Plan::draw`] draws it from a [`Seed`] in a [`Profile`](crate::plan::Profile), [`shrink`] makes it smaller,
//! [`Plan::made_valid`] mends one that is put together of others, and its text form is JSON with an element a line.

mod draw;
mod text;
mod speed;
mod brief;
mod valid;
pub mod shrink;

use serde::{Deserialize, Serialize};

use crate::{
    participants::{InformerPlan, Participants},
    plan::{Content, Incident, Interleaving, Operation, PlannedFault},
    seed::Seed,
};

/// The plan of one run. The same plan gives the same trace, to the byte.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Plan {
    /// The seed of the server's uids, the informers' jitter and the faults' places.
    pub seed: Seed,
    /// The duration of safety in simulated milliseconds; then faults end and caches have to converge.
    pub safety_ms: u64,
    /// The revision at which the server begins; its own if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
    /// The chances of tasks to yield.
    #[serde(default, skip_serializing_if = "Interleaving::is_none")]
    pub interleaving: Interleaving,
    /// The kinds of content of objects besides the usual one, each in turn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contents: Vec<Content>,
    /// The number of informers that may list at a time, if they share a gate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub list_gate: Option<usize>,
    /// The informers under test.
    pub informers: Vec<InformerPlan>,
    /// The operations on the cluster, in order of time. Those at 0 precede the start of informers.
    pub workload: Vec<Operation>,
    /// The faults, in order of time.
    pub faults: Vec<PlannedFault>,
    /// The incidents of machines, in order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub incidents: Vec<Incident>,
    /// The participants beside the informers.
    #[serde(flatten)]
    pub participants: Participants,
}

// === impl Plan ===

impl Plan {
    /// Creates a plan without informers, operations or faults.
    pub fn empty(seed: Seed) -> Self {
        Self {
            seed,
            safety_ms: 10_000,
            revision: None,
            interleaving: Interleaving::default(),
            contents: Vec::new(),
            list_gate: None,
            informers: Vec::new(),
            workload: Vec::new(),
            faults: Vec::new(),
            incidents: Vec::new(),
            participants: Participants::default(),
        }
    }
}

#[cfg(test)]
mod tests;
