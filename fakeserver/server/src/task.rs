//! The only place that spawns tasks: every task has an owner, and ends with it.

use std::{
    future::Future,
    panic::resume_unwind,
    sync::OnceLock,
    thread::{self, ScopedJoinHandle},
};

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// The tasks of one owner. Dropping the set asks the tasks to stop; [`shutdown`](Self::shutdown) also waits for them.
#[derive(Debug, Default)]
pub struct TaskSet {
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
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one place that spawns"
    )]
    pub fn spawn<F>(&self, task: F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        tokio::task::spawn(self.tracker.track_future(task));
    }

    /// Fires when the tasks are to stop.
    pub fn stop_token(&self) -> &CancellationToken {
        &self.stop
    }

    /// Returns whether all tasks have ended.
    #[cfg(test)]
    pub fn is_empty(&self) -> bool {
        self.tracker.is_empty()
    }

    /// Asks the tasks to stop, and waits until all have ended.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the tasks still end, but no caller waits for them.
    pub async fn shutdown(&self) {
        self.stop.cancel();
        self.wait().await;
    }

    /// Waits until all tasks have ended, without asking them to stop.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost if dropped.
    pub async fn wait(&self) {
        self.tracker.close();
        self.tracker.wait().await;
    }
}

/// Runs `work`, which blocks its thread. Other tasks run meanwhile if the runtime has other threads.
pub fn block<T>(work: impl FnOnce() -> T) -> T {
    let runtime = Handle::try_current().map(|runtime| runtime.runtime_flavor());
    match runtime {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        _ => work(),
    }
}

/// Applies `work` to each of `parts`, on a thread for each if there are several, and returns the results in their order.
pub fn side_by_side<T: Sync, R: Send>(parts: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    if let [] | [_] = parts {
        return parts.iter().map(work).collect();
    }
    let work = &work;
    block(|| {
        thread::scope(|scope| {
            let threads: Vec<_> = parts
                .iter()
                .map(|part| scope.spawn(move || work(part)))
                .collect();
            let results = threads.into_iter().map(ScopedJoinHandle::join);
            results
                .map(|result| result.unwrap_or_else(|panic| resume_unwind(panic)))
                .collect()
        })
    })
}

/// Returns the number of parts that [`side_by_side`] works on at once.
pub fn worker_count() -> usize {
    static COUNT: OnceLock<usize> = OnceLock::new();
    *COUNT.get_or_init(|| thread::available_parallelism().map_or(1, usize::from))
}

impl Drop for TaskSet {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}
