//! The interface of a controller: it observes changes, names the keys to reconcile, and reconciles them.

use std::fmt::Debug;

use super::{
    cluster::Cluster,
    index::{Index, Observed},
    queue::Due,
};
use crate::store::ObjectKey;

/// One controller. It holds nothing that cannot be found out again from what is stored.
pub trait Controller: Send {
    /// Returns the name in logs.
    fn name(&self) -> &'static str;

    /// Says which keys have to be looked at now that something has changed. The index knows of the change already.
    fn observe(&mut self, change: &Observed<'_>, index: &Index, due: &mut Due<'_>);

    /// Brings what belongs to `key`, which may not be there any more, to where it should be.
    fn reconcile(&mut self, cluster: &mut Cluster<'_, '_>, key: &ObjectKey, due: &mut Due<'_>);

    /// Says which keys have to be looked at once everything that is stored was observed.
    fn started(&mut self, _due: &mut Due<'_>) {}
}

/// The controllers of workloads, which a crate above this one brings.
pub trait WorkloadControllers: Debug + Send + Sync {
    /// Returns the controllers, in the order in which they observe changes. A server asks for them again after it was
    /// reset.
    fn controllers(&self) -> Vec<Box<dyn Controller>>;
}
