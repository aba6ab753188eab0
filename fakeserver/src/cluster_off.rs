//! The simulated cluster, compiled out.

use std::sync::Arc;

use crate::{task::TaskSet, write::Backend};

/// The simulated cluster of a server, of which there is none.
#[derive(Debug)]
pub(crate) enum SimulatedCluster {}

// === impl SimulatedCluster ===

impl SimulatedCluster {
    /// Puts in nothing.
    pub(crate) fn fill(&self, _: &Backend, _: impl FnMut(usize, usize)) {
        match *self {}
    }

    /// Starts nothing.
    pub(crate) fn start(self: &Arc<Self>, _: &Arc<Backend>, _: &TaskSet) {
        match **self {}
    }

    /// Stops nothing.
    pub(crate) fn clear(&self) {
        match *self {}
    }
}
