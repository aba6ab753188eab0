//! What every request works on: the store, its watchers, the sources of time and chance, and where tasks belong.

mod core;
mod bootstrap;
mod feed;
mod security;
mod stats;
mod hooks;
mod requests;
mod controllers;
mod in_flight;
mod leases;

use std::sync::Arc;

use crate::{
    cluster::SimulatedCluster,
    manifests::Manifest,
    snapshot::{DataFile, Restart, Snapshot},
    task::TaskSet,
};

pub use self::{
    controllers::{Controllers, Workloads},
    requests::RequestRecord,
    stats::Stats,
};
pub(crate) use self::{
    core::Core,
    feed::News,
    in_flight::{InFlight, Slot},
    requests::{REQUESTS_KEPT, Requests},
    security::Security,
};

/// What a request needs: the core that it works on, and where its tasks belong.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) core: Arc<Core>,
    pub(crate) tasks: TaskSet,
    pub(crate) beginning: Beginning,
    /// Where the state is kept, if it is.
    pub(crate) data: Option<DataFile>,
    /// Who works behind the requests.
    pub(crate) controllers: Controllers,
    pub(crate) in_flight: InFlight,
    /// What lives in it, if something does.
    pub(crate) cluster: Option<Arc<SimulatedCluster>>,
}

/// What a server begins with beside what every cluster has, and is reset to.
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
