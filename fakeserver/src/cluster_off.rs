//! A large cluster that nobody runs, without one.

use crate::state::{Core, Server};

/// The simulated cluster of a server, of which there is none.
#[derive(Debug)]
pub(crate) enum SimulatedCluster {}

// === impl SimulatedCluster ===

impl SimulatedCluster {
    /// Puts in nothing.
    pub(crate) fn fill(&self, _: &Core, _: impl FnMut(usize, usize)) {
        match *self {}
    }

    /// Stops nothing.
    pub(crate) fn clear(&self) {
        match *self {}
    }
}

/// Starts nothing.
pub(crate) fn start(_: &Server) {}
