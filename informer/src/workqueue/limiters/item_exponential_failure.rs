//! A delay that doubles with each failure of an item.

use std::time::Duration;

use tokio::time::Instant;

use super::{RateLimiter, failures::Failures};

/// Doubles an item's delay with each of its failures: `base`, twice that, ... up to `max`.
///
/// # Memory
///
/// An entry for each item that failed and was not forgotten. An item that has not failed for three times `max`, at least
/// ten minutes (or what [`with_memory`](Self::with_memory) says), counts as forgotten, so the entries are those of the
/// items that failed within that time. Entries are dropped when a later failure is counted.
#[doc(alias = "TypedItemExponentialFailureRateLimiter")]
#[derive(Clone, Debug)]
pub struct ItemExponentialFailure<T> {
    failures: Failures<T>,
    base: Duration,
    max: Duration,
}

// === impl ItemExponentialFailure ===

impl<T: Ord + Clone> ItemExponentialFailure<T> {
    /// Delays from `base` to `max`.
    pub fn new(base: Duration, max: Duration) -> Self {
        Self {
            failures: Failures::new(max),
            base,
            max,
        }
    }

    /// Forgets an item that has not failed for `memory`. Less than the longest delay plus the longest try lets an item
    /// that always fails begin again with the shortest delay.
    #[must_use]
    pub fn with_memory(mut self, memory: Duration) -> Self {
        self.failures.set_memory(memory);
        self
    }

    /// Returns the number of items that are remembered.
    pub fn len(&self) -> usize {
        self.failures.len()
    }

    /// Returns whether no item is remembered.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T: Ord + Clone> Default for ItemExponentialFailure<T> {
    /// Delays from 5 ms to 1,000 s.
    fn default() -> Self {
        Self::new(Duration::from_millis(5), Duration::from_secs(1_000))
    }
}

impl<T: Ord + Clone + Send> RateLimiter<T> for ItemExponentialFailure<T> {
    fn when(&mut self, item: &T, now: Instant) -> Duration {
        let failed_before = self.failures.count(item, now);
        // Zero stays zero, however often it is doubled.
        if self.base.is_zero() {
            return Duration::ZERO;
        }
        let longer = |delay: Duration, _| delay.checked_mul(2).filter(|delay| *delay < self.max);
        let delay = (0..failed_before).try_fold(self.base, longer);
        delay.map_or(self.max, |delay| delay.min(self.max))
    }

    fn forget(&mut self, item: &T) {
        self.failures.forget(item);
    }

    fn num_requeues(&self, item: &T, now: Instant) -> u32 {
        self.failures.get(item, now)
    }
}
