//! Another limiter's delay, up to a limit.

use std::time::Duration;

use tokio::time::Instant;

use super::RateLimiter;

/// The delay of `limiter`, but never longer than `max`. The limiter is charged in full all the same.
#[doc(alias = "TypedWithMaxWaitRateLimiter")]
#[derive(Clone, Debug)]
pub struct WithMaxWait<L> {
    limiter: L,
    max: Duration,
}

// === impl WithMaxWait ===

impl<L> WithMaxWait<L> {
    /// Cuts the delays of `limiter` off at `max`.
    pub fn new(limiter: L, max: Duration) -> Self {
        Self { limiter, max }
    }
}

impl<T, L: RateLimiter<T>> RateLimiter<T> for WithMaxWait<L> {
    fn when(&mut self, item: &T, now: Instant) -> Duration {
        self.limiter.when(item, now).min(self.max)
    }

    fn forget(&mut self, item: &T) {
        self.limiter.forget(item);
    }

    fn num_requeues(&self, item: &T, now: Instant) -> u32 {
        self.limiter.num_requeues(item, now)
    }
}
