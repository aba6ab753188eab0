//! The only place that spawns: every task has an owner, and ends with it.

use std::{future::Future, pin::Pin};

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// The tasks of one owner. Dropping it tells them to stop; [`shutdown`](Self::shutdown) also waits for them.
#[derive(Debug, Default)]
pub struct TaskSet {
    tracker: TaskTracker,
    stop: CancellationToken,
}

/// Adds tasks to a [`TaskSet`] without owning it: a task may hold one, and the set still ends with its owner.
#[derive(Clone, Debug)]
pub struct Spawner {
    tracker: TaskTracker,
    stop: CancellationToken,
}

// === impl TaskSet ===

impl TaskSet {
    /// An empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Runs `task` until it ends. It is expected to end soon after [`stop_token`](Self::stop_token) fires.
    pub fn spawn<F>(&self, task: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.spawner().spawn(task);
    }

    /// Returns a handle by which tasks spawn others.
    pub fn spawner(&self) -> Spawner {
        Spawner {
            tracker: self.tracker.clone(),
            stop: self.stop.clone(),
        }
    }

    /// Fires when the tasks are to stop.
    pub fn stop_token(&self) -> &CancellationToken {
        &self.stop
    }

    /// Returns the number of tasks that have not ended.
    pub fn len(&self) -> usize {
        self.tracker.len()
    }

    /// Returns whether all tasks have ended.
    pub fn is_empty(&self) -> bool {
        self.tracker.is_empty()
    }

    /// Tells the tasks to stop and waits until all have ended.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the tasks still end, but the caller does not wait for them.
    pub async fn shutdown(&self) {
        self.stop.cancel();
        self.wait().await;
    }

    /// Waits until all tasks have ended, without telling them to.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost if dropped.
    pub async fn wait(&self) {
        self.tracker.close();
        self.tracker.wait().await;
    }
}

impl Drop for TaskSet {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

// === impl Spawner ===

impl Spawner {
    /// Runs `task` until it ends. It is expected to end soon after [`stop_token`](Self::stop_token) fires.
    pub fn spawn<F>(&self, task: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        // Boxed here, so that the runtime's part of a task is compiled once, and not for each type of object.
        self.spawn_boxed(Box::pin(task));
    }

    #[cfg_attr(
        not(feature = "_shuttle"),
        expect(
            clippy::disallowed_methods,
            reason = "this is the one place that spawns"
        )
    )]
    fn spawn_boxed(&self, task: Pin<Box<dyn Future<Output = ()> + Send>>) {
        let task = self.tracker.track_future(task);
        #[cfg(not(feature = "_shuttle"))]
        tokio::task::spawn(task);
        // There is no runtime under a scheduler that explores interleavings.
        #[cfg(feature = "_shuttle")]
        drop(shuttle::future::spawn(task));
    }

    /// Fires when the tasks are to stop.
    pub fn stop_token(&self) -> &CancellationToken {
        &self.stop
    }
}

/// Returns whether other threads can take a part of the work. On a runtime of one thread, as in simulations and tests,
/// callers do their work immediately, so that each run is the same.
pub(crate) fn has_threads() -> bool {
    // There is no runtime under a scheduler that explores interleavings, but there are threads.
    if cfg!(feature = "_shuttle") {
        return true;
    }
    Handle::try_current().is_ok_and(|handle| {
        handle.runtime_flavor() == RuntimeFlavor::MultiThread && handle.metrics().num_workers() > 1
    })
}

/// Runs `work` on a thread that it may block. `None` if the runtime went down before, or the work panicked.
///
/// tokio's paused clock does not advance by itself meanwhile.
///
/// # Cancel safety
///
/// If dropped, the work continues, but the caller does not wait for it.
#[expect(
    clippy::disallowed_methods,
    reason = "this is the one place that spawns; its callers say that the clock stands still meanwhile"
)]
pub(crate) async fn run_blocking<T, F>(work: F) -> Option<T>
where
    T: Send + 'static,
    F: FnOnce() -> T + Send + 'static,
{
    tokio::task::spawn_blocking(work).await.ok()
}
