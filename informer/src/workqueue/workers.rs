//! Workers that take items from a queue and retry what failed.

use std::{
    any::Any,
    fmt::{self, Debug, Display},
    future::Future,
    panic::AssertUnwindSafe,
    sync::Arc,
    time::Duration,
};

use futures::FutureExt;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tracing::{debug, error, warn};

use super::{
    options::AddOptions,
    work_item::WorkItem,
    work_queue::{DrainResult, WorkQueue},
};
use crate::task::TaskSet;

/// The request of a successful reconcile.
#[doc(alias = "Result")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// Nothing: the item comes back when it is added.
    #[default]
    AwaitChange,
    /// To see the item again after this delay, also if nothing happens.
    RequeueAfter(Duration),
}

/// Options of [`Workers`].
#[derive(Clone, Copy, Debug)]
pub struct WorkersOptions {
    count: usize,
    retries_max: Option<u32>,
    timeout: Option<Duration>,
}

/// Tasks that take items from a queue, hand each to the reconcile function, and retry what failed.
///
/// - `Ok`: the item's failures are forgotten, and it is added again after the delay that was asked for, if any.
/// - `Err`, a panic, or a timeout: the item is added again when the queue's limiter allows, with the priority it had, for
///   ever or up to a number of retries.
///
/// Dropping this stops the workers: a reconcile under way is dropped at its next await, and its item is put back. The
/// queue is left open.
#[must_use = "dropping it stops the workers"]
pub struct Workers<T: Ord + Clone> {
    queue: WorkQueue<T>,
    tasks: TaskSet,
    /// The task that keeps metrics up to date: it has nothing to finish, and no caller waits for it.
    _refresher: TaskSet,
}

struct Worker<T: Ord + Clone, F> {
    queue: WorkQueue<T>,
    reconcile: Arc<F>,
    options: WorkersOptions,
    stop: CancellationToken,
}

/// The reason why a reconcile is retried.
enum Failure<E> {
    Error(E),
    Panicked(String),
    TimedOut,
}

// === impl Workers ===

impl<T> Workers<T>
where
    T: Ord + Clone + Send + Sync + Debug + 'static,
{
    /// Starts workers on `queue`, each of which works on one item at a time.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn start<F, R, E>(queue: &WorkQueue<T>, options: WorkersOptions, reconcile: F) -> Self
    where
        F: Fn(T) -> R + Send + Sync + 'static,
        R: Future<Output = Result<Action, E>> + Send + 'static,
        E: Display + Send + 'static,
    {
        let tasks = TaskSet::new();
        let reconcile = Arc::new(reconcile);
        for _ in 0..options.count {
            let worker = Worker {
                queue: queue.clone(),
                reconcile: Arc::clone(&reconcile),
                options,
                stop: tasks.stop_token().clone(),
            };
            tasks.spawn(worker.run());
        }
        let refresher = TaskSet::new();
        let refresh = queue.refresh_metrics();
        let stop = refresher.stop_token().clone();
        refresher.spawn(async move {
            stop.run_until_cancelled(refresh).await;
        });
        Self {
            queue: queue.clone(),
            tasks,
            _refresher: refresher,
        }
    }

    /// Shuts the queue down, lets the workers work off what is queued, and waits until the last is done. What fails
    /// meanwhile is not retried. [`DrainResult::Released`] if a plain shutdown of the queue came in between; the workers have
    /// ended then, too.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the workers stop at once, as if this had been dropped; the queue stays shut down. So a limit on how
    /// long this may take is a [`timeout`].
    pub async fn shutdown(self) -> DrainResult {
        let drained = self.queue.shut_down_with_drain().await;
        self.tasks.wait().await;
        drained
    }

    /// Stops the workers at once and waits until they have ended. What they were working on is put back into the queue,
    /// which stays open.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the workers still stop, but the caller does not wait for them.
    pub async fn abort(self) {
        self.tasks.shutdown().await;
    }
}

impl<T: Ord + Clone> Debug for Workers<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workers")
            .field("queue", &self.queue)
            .finish_non_exhaustive()
    }
}

// === impl WorkersOptions ===

impl WorkersOptions {
    /// Creates options for `count` workers, one at least, which retry without a limit, and reconcile without a timeout.
    #[doc(alias = "MaxConcurrentReconciles")]
    pub fn new(count: usize) -> Self {
        Self {
            count: count.max(1),
            retries_max: None,
            timeout: None,
        }
    }

    /// Starts `count` workers, one at least.
    #[must_use]
    pub fn with_count(mut self, count: usize) -> Self {
        self.count = count.max(1);
        self
    }

    /// Gives up an item that fails more than `retries_max` times in a row, until it is added again.
    #[must_use]
    pub fn with_retries_max(mut self, retries_max: u32) -> Self {
        self.retries_max = Some(retries_max);
        self
    }

    /// Drops a reconcile that takes longer, which counts as a failure.
    #[doc(alias = "ReconciliationTimeout")]
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }
}

// === impl Worker ===

impl<T, F, R, E> Worker<T, F>
where
    T: Ord + Clone + Send + Debug + 'static,
    F: Fn(T) -> R,
    R: Future<Output = Result<Action, E>>,
    E: Display,
{
    async fn run(self) {
        while let Some(Some(item)) = self.stop.run_until_cancelled(self.queue.get()).await {
            let attempt = self.attempt(T::clone(&item));
            match self.stop.run_until_cancelled(attempt).await {
                Some(Ok(action)) => self.on_success(&item, action),
                Some(Err(failure)) => self.on_failure(&item, failure),
                // The item is still in flight, so that this queues it again the moment it is dropped.
                None => self.queue.add_with(
                    T::clone(&item),
                    AddOptions::new().with_priority(item.priority()),
                ),
            }
        }
    }

    async fn attempt(&self, item: T) -> Result<Action, Failure<E>> {
        // The call is inside too: a function may panic before it gives a future.
        let attempt = AssertUnwindSafe(async { (self.reconcile)(item).await }).catch_unwind();
        let result = match self.options.timeout {
            Some(limit) => timeout(limit, attempt)
                .await
                .map_err(|_| Failure::TimedOut)?,
            None => attempt.await,
        };
        result
            .map_err(|panic| Failure::Panicked(panic_message(&*panic)))?
            .map_err(Failure::Error)
    }

    fn on_success(&self, item: &WorkItem<T>, action: Action) {
        // Before the item is added again: a delay that was asked for is no retry.
        self.queue.forget(item);
        match action {
            Action::AwaitChange => {}
            Action::RequeueAfter(delay) => self.queue.add_with(
                T::clone(item),
                AddOptions::new()
                    .with_after(delay)
                    .with_priority(item.priority()),
            ),
        }
    }

    fn on_failure(&self, item: &WorkItem<T>, failure: Failure<E>) {
        let queue = self.queue.name().unwrap_or_default();
        // Before the item is added again, by which the limiter counts this failure.
        let attempt = self.queue.num_requeues(item).saturating_add(1);
        match failure {
            Failure::Error(error) => {
                debug!(queue, key = ?**item, attempt, %error, "reconcile failed");
            }
            Failure::Panicked(message) => {
                error!(queue, key = ?**item, attempt, error = message, "reconcile panicked");
            }
            Failure::TimedOut => warn!(queue, key = ?**item, attempt, "reconcile timed out"),
        }
        if self.options.retries_max.is_some_and(|max| attempt > max) {
            error!(queue, key = ?**item, attempt, "item given up after too many retries");
            self.queue.forget(item);
            return;
        }
        self.queue.add_with(
            T::clone(item),
            AddOptions::new()
                .with_rate_limit()
                .with_priority(item.priority()),
        );
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> String {
    if let Some(message) = panic.downcast_ref::<&str>() {
        (*message).to_owned()
    } else if let Some(message) = panic.downcast_ref::<String>() {
        message.clone()
    } else {
        "a panic without a message".to_owned()
    }
}
