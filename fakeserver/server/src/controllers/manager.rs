//! The controllers of a server, from its first request to its end.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use super::{
    EnabledControllers, controller::WorkloadControllers, driver::Driver, feed::Feed,
    leadership::Candidate,
};
use crate::{store::ChangeSink, task::TaskSet, write::Backend};

/// The controllers of a server, and the changes that wait for them.
#[derive(Debug)]
pub struct ControllerManager {
    enabled: EnabledControllers,
    workloads: Option<Arc<dyn WorkloadControllers>>,
    feed: Arc<Feed>,
    /// True once the server takes part in the election of the one whose controllers run.
    is_candidate: AtomicBool,
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
            is_candidate: AtomicBool::new(false),
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
    ///
    /// With a log they start when this server is elected.
    pub fn start(&self, backend: &Arc<Backend>, tasks: &TaskSet) {
        let stop = tasks.stop_token();
        if self.enabled.elected && backend.storage.log().is_some() {
            self.start_election(backend, tasks);
            return;
        }
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

    /// Starts the task that runs the controllers whenever this server leads, unless it runs.
    fn start_election(&self, backend: &Arc<Backend>, tasks: &TaskSet) {
        let stop = tasks.stop_token().clone();
        if stop.is_cancelled() || self.is_candidate.swap(true, Ordering::AcqRel) {
            return;
        }
        // Another server may lead: there is nothing to be waited for here.
        self.feed.set_at_rest(true);
        let (backend, feed) = (Arc::clone(backend), Arc::clone(&self.feed));
        let (enabled, workloads) = (self.enabled.clone(), self.workloads.clone());
        tasks.spawn(async move {
            let leading = async {
                let mut candidate = Candidate::new(Arc::clone(&backend));
                loop {
                    candidate.acquire().await;
                    feed.open();
                    let driver = Driver::new(
                        Arc::clone(&backend),
                        Arc::clone(&feed),
                        enabled.clone(),
                        workloads.clone(),
                    );
                    // The driver is dropped with its transaction, which may still be committed: another leader's conflicts with it.
                    tokio::select! {
                        biased;
                        () = candidate.lost() => {}
                        () = driver.run() => {}
                    }
                    feed.set_at_rest(true);
                }
            };
            stop.run_until_cancelled(leading).await;
        });
    }
}
