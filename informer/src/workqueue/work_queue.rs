//! The queue as its users see it.

use std::{
    fmt,
    future::Future,
    sync::{Arc, Weak},
    time::Duration,
};

use tokio::{
    task::coop::cooperative,
    time::{Instant, MissedTickBehavior, interval},
};

use super::{
    driver::{Get, Shared},
    metrics::REFRESH_INTERVAL,
    options::{AddOptions, WorkQueueOptions},
    priority::Priority,
    work_item::WorkItem,
};

/// Items to work on, each of them at most once at a time. Clones are handles of one queue.
///
/// The [module](super) documents its guarantees and the differences from client-go's.
///
/// # Memory
///
/// An entry for each distinct item that is delayed, queued or in flight, however often it is added. Nothing is kept of an
/// item that is none of these, but for the failures that the [limiter](super::limiters) remembers.
#[doc(alias = "TypedRateLimitingInterface")]
#[doc(alias = "TypedDelayingInterface")]
#[doc(alias = "TypedInterface")]
#[doc(alias = "RateLimitingInterface")]
#[doc(alias = "PriorityQueue")]
pub struct WorkQueue<T: Ord + Clone> {
    shared: Arc<Shared<T>>,
}

/// The end of [`WorkQueue::shut_down_with_drain`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "complete by definition: drained or not"
)]
pub enum DrainResult {
    /// Nothing is queued, and all items in flight are done.
    All,
    /// A plain shutdown ended the wait.
    Released,
}

// === impl WorkQueue ===

impl<T> WorkQueue<T>
where
    T: Ord + Clone + Send + 'static,
{
    /// An empty queue with the default options.
    pub fn new() -> Self {
        Self::with_options(WorkQueueOptions::new())
    }
}

impl<T: Ord + Clone> WorkQueue<T> {
    /// An empty queue.
    pub fn with_options(options: WorkQueueOptions<T>) -> Self {
        Self {
            shared: Arc::new(Shared::new(options)),
        }
    }

    /// Marks `item` as in need of work: it will be handed out once from now on, however often it is added until then. An
    /// item that is in flight is handed out again once it is done. Ignored after a shutdown.
    ///
    /// # Ordering
    ///
    /// Items of one priority are handed out in the order in which they were first added, or done if they were in flight.
    #[doc(alias = "Add")]
    pub fn add(&self, item: T) {
        self.add_with(item, AddOptions::new());
    }

    /// [Adds](Self::add) `item` once `delay` has passed, not before. If it is delayed already, the earlier time holds.
    /// Ignored after a shutdown, which also drops what is delayed.
    #[doc(alias = "AddAfter")]
    pub fn add_after(&self, item: T, delay: Duration) {
        let priority = Priority::DEFAULT;
        self.shared
            .update(|state, now| state.queue.add_after(item, delay, priority, now));
    }

    /// Counts a failure of `item` and [adds](Self::add) it when the limiter allows. Ignored after a shutdown.
    #[doc(alias = "AddRateLimited")]
    pub fn add_rate_limited(&self, item: T) {
        self.add_with(item, AddOptions::new().with_rate_limit());
    }

    /// Adds `item` with a priority, a delay, a rate limit, or several of them. An item that is queued or delayed already
    /// keeps the higher priority; if that raises it, it goes to the end of its new class.
    #[doc(alias = "AddWithOpts")]
    pub fn add_with(&self, item: T, options: AddOptions) {
        let AddOptions {
            after,
            is_rate_limited,
            priority,
        } = options;
        if is_rate_limited {
            if self.is_shutting_down() {
                return;
            }
            let limit = self
                .shared
                .with_rate_limiter(|limiter, now| limiter.when(&item, now));
            let delay = match (after.is_zero(), limit.is_zero()) {
                (false, false) => after.min(limit),
                // One of them is zero.
                _ => after.max(limit),
            };
            self.shared
                .update(|state, now| state.queue.add_after(item, delay, priority, now));
        } else if after.is_zero() {
            self.shared
                .update(|state, now| state.queue.add(item, priority, now));
        } else {
            self.shared
                .update(|state, now| state.queue.add_after(item, after, priority, now));
        }
    }

    /// The item succeeded, or was given up: its failures are forgotten. It stays where it is in the queue.
    #[doc(alias = "Forget")]
    pub fn forget(&self, item: &T) {
        self.shared
            .with_rate_limiter(|limiter, _| limiter.forget(item));
    }

    /// Returns the number of failures of `item` since it was last forgotten.
    #[doc(alias = "NumRequeues")]
    pub fn num_requeues(&self, item: &T) -> u32 {
        self.shared
            .with_rate_limiter(|limiter, now| limiter.num_requeues(item, now))
    }

    /// Waits for the next item. None once the queue is shut down and nothing is left to hand out; an item that is in
    /// flight and will be queued again is waited for.
    ///
    /// Waiting calls are served in the order in which they began. Each item wakes one of them and is reserved for it:
    /// no other call takes the item before the woken one runs.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime with time enabled, if it has to wait for a delayed item.
    ///
    /// # Cancel safety
    ///
    /// No item is lost if dropped: an item that was reserved for the call gets its place in the queue back and goes to
    /// the next in line. Only the place among the waiting calls is lost.
    #[doc(alias = "Get")]
    pub async fn get(&self) -> Option<WorkItem<T>> {
        // A queue that is never empty would otherwise keep a worker that never waits from yielding.
        let taken = cooperative(Get::new(&self.shared)).await?;
        Some(WorkItem::new(Arc::clone(&self.shared), taken))
    }

    /// Takes nothing new from now on and drops what is delayed. What is queued, or was added while in flight, is still
    /// handed out; then [`get`](Self::get) says that it is over. A drain that is under way ends its wait.
    #[doc(alias = "ShutDown")]
    pub fn shut_down(&self) {
        self.shared.update(|state, _| {
            state.queue.shut_down();
            state.release_drainers();
        });
    }

    /// As [`shut_down`](Self::shut_down), and drops what is queued as well: nothing is handed out any more, as after the
    /// shutdown of controller-runtime's priority queue. What is in flight stays so until it is done.
    pub fn shut_down_now(&self) {
        self.shared.update(|state, _| {
            state.queue.shut_down_now();
            state.release_drainers();
        });
    }

    /// Shuts down as [`shut_down`](Self::shut_down), and waits until all items that were queued or in flight are done.
    /// This needs workers: if none keeps calling [`get`](Self::get), or one keeps its item, it waits until a plain
    /// [`shut_down`](Self::shut_down).
    ///
    /// # Cancel safety
    ///
    /// If dropped, the queue is shut down all the same, once it has been polled.
    #[doc(alias = "ShutDownWithDrain")]
    pub async fn shut_down_with_drain(&self) -> DrainResult {
        if self.shared.drain().await {
            DrainResult::All
        } else {
            DrainResult::Released
        }
    }

    /// Returns whether one of the shutdowns was called.
    #[doc(alias = "ShuttingDown")]
    pub fn is_shutting_down(&self) -> bool {
        self.shared
            .update(|state, _| state.queue.is_shutting_down())
    }

    /// Returns the number of queued items. Delayed ones and those in flight do not count.
    #[doc(alias = "Len")]
    pub fn len(&self) -> usize {
        self.shared.update(|state, _| state.queue.len())
    }

    /// Returns whether no item is queued.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of items in flight.
    pub fn processing_len(&self) -> usize {
        self.shared.update(|state, _| state.queue.processing_len())
    }

    /// Returns the number of delayed items.
    pub fn delayed_len(&self) -> usize {
        self.shared.update(|state, _| state.queue.waiting().len())
    }

    /// The delayed items and when they are due, soonest first.
    pub fn delayed(&self) -> Vec<(T, Instant)> {
        self.shared.update(|state, _| {
            let delayed = state.queue.waiting().iter();
            delayed.map(|(item, due)| (item.clone(), due)).collect()
        })
    }

    /// Returns the time at which `item` is due, if it is delayed.
    pub fn delayed_until(&self, item: &T) -> Option<Instant> {
        self.shared
            .update(|state, _| state.queue.waiting().due(item))
    }

    /// Takes `item` off the delayed ones; false if it is not among them. An item that is queued or in flight stays so.
    pub fn cancel_delayed(&self, item: &T) -> bool {
        self.shared
            .update(|state, _| state.queue.cancel_delayed(item))
    }

    /// The name under which it reports metrics.
    pub fn name(&self) -> Option<&str> {
        self.shared.name().map(|name| &**name)
    }

    /// Keeps the metrics of what is in flight up to date, twice a second, and moves what is due into the depth even if
    /// all workers are busy. Ends at once for a queue without a name, otherwise when the queue is gone, or is shut down
    /// with nothing queued or in flight. [`Workers`](super::Workers) do this by themselves.
    pub fn refresh_metrics(&self) -> impl Future<Output = ()> + Send + use<T>
    where
        T: Send,
    {
        let shared = self.name().map(|_| Arc::downgrade(&self.shared));
        async move {
            if let Some(shared) = shared {
                refresh(shared).await;
            }
        }
    }
}

impl<T> Default for WorkQueue<T>
where
    T: Ord + Clone + Send + 'static,
{
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Ord + Clone> Clone for WorkQueue<T> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
        }
    }
}

impl<T: Ord + Clone> fmt::Debug for WorkQueue<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkQueue")
            .field("name", &self.name())
            .field("len", &self.len())
            .field("processing_len", &self.processing_len())
            .field("delayed_len", &self.delayed_len())
            .finish_non_exhaustive()
    }
}

async fn refresh<T: Ord + Clone>(shared: Weak<Shared<T>>) {
    let mut ticks = interval(REFRESH_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        let Some(shared) = shared.upgrade() else {
            return;
        };
        let is_over = shared.update(|state, now| {
            if let Some(metrics) = &state.metrics {
                metrics.refresh(state.queue.unfinished(now));
            }
            state.queue.is_drained()
        });
        if is_over {
            return;
        }
    }
}
