//! Options of a queue, and of an add.

use std::{fmt, num::NonZeroU32, sync::Arc, time::Duration};

use super::{
    limiters::{ItemExponentialFailure, RateLimiter, default_controller_rate_limiter},
    priority::Priority,
};

/// The default fair share: one in 16 items handed out is the oldest, of any priority.
const FAIR_SHARE: NonZeroU32 = NonZeroU32::new(16).expect("16 is not zero");

/// Options of a queue. The default keeps client-go's promises.
#[doc(alias = "TypedRateLimitingQueueConfig")]
#[doc(alias = "TypedQueueConfig")]
pub struct WorkQueueOptions<T> {
    pub(super) name: Option<Arc<str>>,
    pub(super) rate_limiter: Box<dyn RateLimiter<T>>,
    pub(super) delayed_items: DelayedItems,
    pub(super) fair_share: Option<NonZeroU32>,
}

/// The relation of a delayed item to the same item when it is queued.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum DelayedItems {
    /// Nothing, as in client-go: a delayed item is an alarm of its own. An add does not cancel it, and the item is handed
    /// out again when it is due.
    #[default]
    Independent,
    /// Both adds become one, as in controller-runtime: the earlier time and the higher priority hold. An add makes a delayed item
    /// ready at once, and delaying an item that is queued does nothing but raise its priority.
    Merged,
}

/// Options of an add: see [`WorkQueue::add_with`](super::WorkQueue::add_with).
#[doc(alias = "AddOpts")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AddOptions {
    pub(super) after: Duration,
    pub(super) is_rate_limited: bool,
    pub(super) priority: Priority,
}

// === impl WorkQueueOptions ===

impl<T> WorkQueueOptions<T>
where
    T: Ord + Clone + Send + 'static,
{
    /// client-go's rules: no name, [`default_controller_rate_limiter`], [`DelayedItems::Independent`].
    pub fn new() -> Self {
        Self {
            name: None,
            rate_limiter: Box::new(default_controller_rate_limiter()),
            delayed_items: DelayedItems::Independent,
            fair_share: Some(FAIR_SHARE),
        }
    }

    /// The rules of controller-runtime's priority queue: an exponential limiter without a bucket,
    /// [`DelayedItems::Merged`], strict priorities.
    #[doc(alias = "priorityqueue")]
    pub fn controller_runtime() -> Self {
        Self::new()
            .with_rate_limiter(ItemExponentialFailure::default())
            .with_delayed_items(DelayedItems::Merged)
            .with_strict_priority()
    }
}

impl<T> WorkQueueOptions<T> {
    /// Reports metrics under `name`. A queue without a name reports none.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<Arc<str>>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Lets `rate_limiter` decide how long a failed item waits.
    #[must_use]
    pub fn with_rate_limiter(mut self, rate_limiter: impl RateLimiter<T> + 'static) -> Self {
        self.rate_limiter = Box::new(rate_limiter);
        self
    }

    /// Sets whether a delayed item and the same item in the queue are one.
    #[must_use]
    pub fn with_delayed_items(mut self, delayed_items: DelayedItems) -> Self {
        self.delayed_items = delayed_items;
        self
    }

    /// Makes the oldest item the last of each `fair_share` items in a row that overtook an older one, so that no flood
    /// of urgent items can starve the others; 16 by default. Without effect while all items have one priority.
    #[must_use]
    pub fn with_fair_share(mut self, fair_share: NonZeroU32) -> Self {
        self.fair_share = Some(fair_share);
        self
    }

    /// Hands out no item while there is one of a higher priority, for ever if need be.
    #[must_use]
    pub fn with_strict_priority(mut self) -> Self {
        self.fair_share = None;
        self
    }
}

impl<T> Default for WorkQueueOptions<T>
where
    T: Ord + Clone + Send + 'static,
{
    fn default() -> Self {
        Self::new()
    }
}

impl<T> fmt::Debug for WorkQueueOptions<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkQueueOptions")
            .field("name", &self.name)
            .field("delayed_items", &self.delayed_items)
            .field("fair_share", &self.fair_share)
            .finish_non_exhaustive()
    }
}

// === impl AddOptions ===

impl AddOptions {
    /// At once, with the default priority.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the item once `delay` has passed.
    #[must_use]
    pub fn with_after(mut self, delay: Duration) -> Self {
        self.after = delay;
        self
    }

    /// Counts a failure of the item, and adds it when the queue's limiter allows. Together with a delay the shorter one
    /// holds, but one of zero does not count.
    #[must_use]
    pub fn with_rate_limit(mut self) -> Self {
        self.is_rate_limited = true;
        self
    }

    /// Adds the item with `priority`. An item that is queued or delayed with a higher one keeps that.
    #[must_use]
    pub fn with_priority(mut self, priority: impl Into<Priority>) -> Self {
        self.priority = priority.into();
        self
    }
}
