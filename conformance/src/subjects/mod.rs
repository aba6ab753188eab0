//! What is under test, behind one face.

mod informer;
mod interleaved;

use std::{collections::BTreeMap, future::Future, pin::Pin};

use crate::{
    bugs::Bug,
    interleave::Yields,
    plan::{HandlerPlan, InformerPlan, Resource, Selection},
    trace::{Key, Recorder, State},
};

/// One mirror of a selection, with its handlers.
///
/// A subject records by itself: what its handlers hear ([`Notified`](crate::trace::Observation::Notified)), and when asked
/// what its cache holds.
pub trait Subject {
    /// What it mirrors.
    fn selection(&self) -> &Selection;

    /// Begins to list and watch.
    fn start(&mut self);

    /// Adds a handler, which has this place in the plan.
    fn join(&mut self, handler: usize, plan: &HandlerPlan);

    /// Removes a handler; harmless if it never joined.
    fn leave(&mut self, handler: usize);

    /// Whether the cache says that it is complete.
    fn has_synced(&self) -> bool;

    /// What the cache holds.
    fn holds(&self) -> BTreeMap<Key, State>;

    /// Records what the cache holds, and where an index differs from a recount.
    fn observe(&self);

    /// Stops it and waits until it has; records how many tasks are left.
    fn stop(self: Box<Self>) -> Pin<Box<dyn Future<Output = ()>>>;
}

/// What a subject is made of.
#[non_exhaustive]
pub struct SubjectParts<'a> {
    /// Its place in the plan.
    pub informer: usize,
    /// Its plan.
    pub plan: &'a InformerPlan,
    /// The seed of its jitter.
    pub seed: u64,
    /// Its way to the server.
    pub client: kube::Client,
    /// How often it lets others go first before it stores what it got.
    pub yields: Yields,
    /// Where it records.
    pub recorder: Recorder,
}

/// The informer that a plan asks for: pods typed, config maps dynamic, nodes as metadata only.
pub fn informer(parts: SubjectParts<'_>) -> Box<dyn Subject> {
    informer_with(parts, None)
}

/// The same with a mistake that is made on purpose.
pub fn informer_with(parts: SubjectParts<'_>, bug: Option<Bug>) -> Box<dyn Subject> {
    match parts.plan.selection.resource {
        Resource::Pods => informer::pods(parts, bug),
        Resource::ConfigMaps => informer::config_maps(parts, bug),
        Resource::Nodes => informer::nodes(parts, bug),
    }
}
