//! The state of a server: the store, its watchers, the sources of time and randomness, and the owner of tasks.

mod core;
mod bootstrap;
mod feed;
mod security;
mod stats;
mod requests;
mod controllers;
#[cfg_attr(not(feature = "controllers"), path = "workloads_off.rs")]
mod workloads;
mod in_flight;
mod leases;

use std::sync::Arc;

use crate::{
    cluster::SimulatedCluster,
    store::{
        manifests::Manifest,
        snapshot::{DataFile, Restart, Snapshot},
    },
    task::TaskSet,
};

#[cfg(feature = "controllers")]
pub use self::workloads::Workloads;
#[cfg(not(feature = "controllers"))]
pub(crate) use self::workloads::Workloads;
pub use self::{controllers::Controllers, requests::RequestRecord, stats::Stats};
pub(crate) use self::{
    core::Core,
    feed::News,
    in_flight::{InFlight, Slot},
    requests::{REQUESTS_KEPT, Requests},
    security::Security,
};

/// The state that a request needs: the core, and the owner of tasks.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) core: Arc<Core>,
    pub(crate) tasks: TaskSet,
    pub(crate) beginning: Beginning,
    /// The file of the state, if there is one.
    pub(crate) data: Option<DataFile>,
    /// The controllers behind the requests.
    pub(crate) controllers: Controllers,
    pub(crate) in_flight: InFlight,
    /// The simulated cluster, if there is one.
    pub(crate) cluster: Option<Arc<SimulatedCluster>>,
}

/// The initial state beside that of every cluster, which a reset restores.
#[derive(Debug, Default)]
pub(crate) struct Beginning {
    pub(crate) snapshot: Option<(Snapshot, Restart)>,
    pub(crate) objects: Vec<Manifest>,
}

// === impl Server ===

impl Server {
    /// Sees to it that what is stored for a time goes when the time is over.
    pub(crate) fn keep_leases(&self) {
        if !self.core.leases.start() {
            return;
        }
        let core = Arc::clone(&self.core);
        let stop = self.tasks.stop_token().clone();
        self.tasks.spawn(async move {
            while let Some(next) = core.leases.next() {
                tokio::select! {
                    biased;
                    () = stop.cancelled() => return,
                    () = tokio::time::sleep_until(next) => core.expire_leases(next),
                }
            }
        });
    }
}
