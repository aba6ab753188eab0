//! The only place that spawns tasks: every task has an owner, and ends with it.

use std::future::Future;

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// The tasks of one owner. Dropping it tells them to stop; [`shutdown`](Self::shutdown) also waits for them.
#[derive(Debug, Default)]
pub(crate) struct TaskSet {
    tracker: TaskTracker,
    stop: CancellationToken,
}

// === impl TaskSet ===

impl TaskSet {
    /// An empty set.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Runs `task` until it ends. It is expected to end soon after [`stop_token`](Self::stop_token) fires.
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one place that spawns"
    )]
    pub(crate) fn spawn<F>(&self, task: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        tokio::task::spawn(self.tracker.track_future(task));
    }

    /// Fires when the tasks are to stop.
    pub(crate) fn stop_token(&self) -> &CancellationToken {
        &self.stop
    }

    /// Returns whether all tasks have ended.
    #[cfg(test)]
    pub(crate) fn is_empty(&self) -> bool {
        self.tracker.is_empty()
    }

    /// Tells the tasks to stop and waits until all have ended.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the tasks still end, but no caller waits for them.
    pub(crate) async fn shutdown(&self) {
        self.stop.cancel();
        self.wait().await;
    }

    /// Waits until all tasks have ended, without telling them to.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost if dropped.
    pub(crate) async fn wait(&self) {
        self.tracker.close();
        self.tracker.wait().await;
    }
}

/// Runs `work`, which blocks its thread. Other tasks go on meanwhile where the runtime has other threads.
pub(crate) fn block<T>(work: impl FnOnce() -> T) -> T {
    let runtime = Handle::try_current().map(|runtime| runtime.runtime_flavor());
    match runtime {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        _ => work(),
    }
}

impl Drop for TaskSet {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}
