//! A short delay for an item's first failures, then a long one.

use std::time::Duration;

use tokio::time::Instant;

use super::{RateLimiter, failures::Failures};

/// Lets an item wait for `fast` after each of its first failures, and for `slow` after the later ones.
///
/// # Memory
///
/// As [`ItemExponentialFailure`](super::ItemExponentialFailure), with the longer of the two delays for its `max`.
#[doc(alias = "TypedItemFastSlowRateLimiter")]
#[derive(Clone, Debug)]
pub struct ItemFastSlow<T> {
    failures: Failures<T>,
    fast: Duration,
    slow: Duration,
    fast_attempts_max: u32,
}

// === impl ItemFastSlow ===

impl<T: Ord + Clone> ItemFastSlow<T> {
    /// Delays of `fast` for the first `fast_attempts_max` failures of an item, then of `slow`.
    pub fn new(fast: Duration, slow: Duration, fast_attempts_max: u32) -> Self {
        Self {
            failures: Failures::new(fast.max(slow)),
            fast,
            slow,
            fast_attempts_max,
        }
    }

    /// Forgets an item that has not failed for `memory`.
    #[must_use]
    pub fn with_memory(mut self, memory: Duration) -> Self {
        self.failures.set_memory(memory);
        self
    }
}

impl<T: Ord + Clone + Send> RateLimiter<T> for ItemFastSlow<T> {
    fn when(&mut self, item: &T, now: Instant) -> Duration {
        if self.failures.count(item, now) < self.fast_attempts_max {
            self.fast
        } else {
            self.slow
        }
    }

    fn forget(&mut self, item: &T) {
        self.failures.forget(item);
    }

    fn num_requeues(&self, item: &T, now: Instant) -> u32 {
        self.failures.get(item, now)
    }
}
