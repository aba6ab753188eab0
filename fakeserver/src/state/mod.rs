//! What every request works on: the store, its watchers, the sources of time and chance, and where tasks belong.

mod core;
mod bootstrap;
mod security;
mod stats;
mod requests;

use std::{sync::Arc, time::Duration};

use crate::{
    manifests::Manifest,
    snapshot::{DataFile, Restart, Snapshot},
    task::TaskSet,
};

pub(crate) use self::{
    core::Core,
    requests::{REQUESTS_KEPT, Requests},
    security::Security,
};
pub use self::{requests::RequestRecord, stats::Stats};

/// What a request needs: the core that it works on, and where its tasks belong.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) core: Arc<Core>,
    pub(crate) tasks: TaskSet,
    pub(crate) beginning: Beginning,
    /// Where the state is kept, if it is.
    pub(crate) data: Option<DataFile>,
}

/// What a server begins with beside what every cluster has, and is reset to.
#[derive(Debug, Default)]
pub(crate) struct Beginning {
    pub(crate) snapshot: Option<(Snapshot, Restart)>,
    pub(crate) objects: Vec<Manifest>,
}

// === impl Server ===

impl Server {
    /// Does `work` after a while, as controllers do theirs; not at all if the server stops before.
    pub(crate) fn later(&self, after: Duration, work: impl FnOnce(&Core) + Send + 'static) {
        let core = Arc::clone(&self.core);
        let stop = self.tasks.stop_token().clone();
        self.tasks.spawn(async move {
            tokio::select! {
                biased;
                () = stop.cancelled() => {}
                () = tokio::time::sleep(after) => work(&core),
            }
        });
    }
}
