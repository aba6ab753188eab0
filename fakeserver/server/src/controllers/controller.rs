//! The interface of a controller: it observes changes, names the keys to reconcile, and reconciles them.

use std::fmt::Debug;

use super::{
    cluster::Cluster,
    index::{Index, ObjectChange},
    queue::KeyQueue,
};
use crate::store::ObjectKey;

/// A controller. Its state can always be rebuilt from the stored objects.
pub trait Controller: Send {
    /// Returns the name in logs.
    fn name(&self) -> &'static str;

    /// Enqueues the keys that a change affects. The index has applied the change already.
    fn observe(&mut self, change: &ObjectChange<'_>, index: &Index, due: &mut KeyQueue<'_>);

    /// Reconciles the objects that belong to `key`, whose object may no longer exist.
    fn reconcile(&mut self, cluster: &mut Cluster<'_, '_>, key: &ObjectKey, due: &mut KeyQueue<'_>);

    /// Enqueues the keys to reconcile after all stored objects were observed.
    fn started(&mut self, _due: &mut KeyQueue<'_>) {}
}

/// The controllers of workloads, which a crate above this one brings.
pub trait WorkloadControllers: Debug + Send + Sync {
    /// Returns the controllers, in the order in which they observe changes. A server asks for them again after it was
    /// reset.
    fn controllers(&self) -> Vec<Box<dyn Controller>>;
}
