//! The controllers of a server, from its first request to its end.

use std::sync::Arc;

use super::{EnabledControllers, controller::WorkloadControllers, driver::Driver, feed::Feed};
use crate::{store::ChangeSink, task::TaskSet, write::Backend};

/// The controllers of a server, and the changes that wait for them.
#[derive(Debug)]
pub struct ControllerManager {
    enabled: EnabledControllers,
    workloads: Option<Arc<dyn WorkloadControllers>>,
    feed: Arc<Feed>,
}

// === impl ControllerManager ===

impl ControllerManager {
    /// Creates the controllers of a server, with those of workloads if there are nodes.
    pub fn new(
        enabled: EnabledControllers,
        workloads: Option<Arc<dyn WorkloadControllers>>,
    ) -> Self {
        Self {
            enabled,
            workloads,
            feed: Arc::default(),
        }
    }

    /// Returns the sink that receives all changes.
    pub fn feed(&self) -> Arc<dyn ChangeSink> {
        Arc::clone(&self.feed) as _
    }

    /// Returns the number of changes that the controllers have not processed yet.
    pub fn unseen_changes(&self) -> usize {
        self.feed.len()
    }

    /// Waits until the controllers run, and have done all that is due.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost if the future is dropped.
    pub async fn at_rest(&self) {
        self.feed.at_rest().await;
    }

    /// Starts the controllers in a task of `tasks`, unless they run. It is to be called in a runtime.
    pub fn start(&self, backend: &Arc<Backend>, tasks: &TaskSet) {
        let stop = tasks.stop_token();
        if stop.is_cancelled() || !self.feed.open() {
            return;
        }
        let backend = Arc::clone(backend);
        let (enabled, workloads) = (self.enabled.clone(), self.workloads.clone());
        let driver = Driver::new(backend, Arc::clone(&self.feed), enabled, workloads);
        let stop = stop.clone();
        tasks.spawn(async move {
            tokio::select! {
                biased;
                () = stop.cancelled() => {}
                () = driver.run() => {}
            }
        });
    }
}
