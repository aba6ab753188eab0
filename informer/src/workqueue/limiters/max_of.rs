//! The longest of several limiters' delays.

use std::{fmt, time::Duration};

use tokio::time::Instant;

use super::RateLimiter;

/// The longest delay, and the highest count, of several limiters. All of them are asked, so all of them are charged.
#[doc(alias = "TypedMaxOfRateLimiter")]
pub struct MaxOf<T> {
    limiters: Vec<Box<dyn RateLimiter<T>>>,
}

// === impl MaxOf ===

impl<T> MaxOf<T> {
    /// The longer of two.
    pub fn new(
        first: impl RateLimiter<T> + 'static,
        second: impl RateLimiter<T> + 'static,
    ) -> Self {
        Self {
            limiters: vec![Box::new(first), Box::new(second)],
        }
    }

    /// Asks `limiter` too.
    #[must_use]
    pub fn and(mut self, limiter: impl RateLimiter<T> + 'static) -> Self {
        self.limiters.push(Box::new(limiter));
        self
    }
}

impl<T> RateLimiter<T> for MaxOf<T> {
    fn when(&mut self, item: &T, now: Instant) -> Duration {
        let delays = self
            .limiters
            .iter_mut()
            .map(|limiter| limiter.when(item, now));
        delays.max().unwrap_or_default()
    }

    fn forget(&mut self, item: &T) {
        for limiter in &mut self.limiters {
            limiter.forget(item);
        }
    }

    fn num_requeues(&self, item: &T, now: Instant) -> u32 {
        let counts = self
            .limiters
            .iter()
            .map(|limiter| limiter.num_requeues(item, now));
        counts.max().unwrap_or_default()
    }
}

impl<T> fmt::Debug for MaxOf<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MaxOf")
            .field("limiters_count", &self.limiters.len())
            .finish()
    }
}
