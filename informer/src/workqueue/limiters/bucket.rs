//! A token bucket that all items share.

use std::time::Duration;

use tokio::time::Instant;

use super::RateLimiter;

/// The longest time in which one token grows: for practical purposes never, but still safe to reckon with.
const INTERVAL_MAX: Duration = Duration::from_hours(24 * 365);

/// Keeps all items together within a rate, after a burst. A place is reserved with each failure and never given back.
///
/// Item number `burst + k` of a mass failure waits for `k / rate_per_second` seconds. The bucket counts no failures:
/// [`num_requeues`](RateLimiter::num_requeues) is 0, and forgetting does nothing.
#[doc(alias = "TypedBucketRateLimiter")]
#[derive(Clone, Debug)]
pub struct Bucket {
    /// The time in which one token grows.
    interval: Duration,
    /// The time in which an empty bucket fills.
    burst: Duration,
    /// The time at which the bucket would be full if nothing more were taken; unset while it has never been used.
    full_at: Option<Instant>,
}

// === impl Bucket ===

impl Bucket {
    /// `rate_per_second` items, after a burst of `burst_items`.
    ///
    /// # Panics
    ///
    /// If the rate is not a positive number.
    pub fn new(rate_per_second: f64, burst_items: u32) -> Self {
        assert!(
            rate_per_second > 0.0 && rate_per_second.is_finite(),
            "the rate of a bucket is a positive number"
        );
        let interval = Duration::try_from_secs_f64(rate_per_second.recip())
            .map_or(INTERVAL_MAX, |interval| interval.min(INTERVAL_MAX));
        Self {
            interval,
            burst: interval.saturating_mul(burst_items),
            full_at: None,
        }
    }
}

impl Default for Bucket {
    /// 10 items a second, after a burst of 100.
    fn default() -> Self {
        Self::new(10.0, 100)
    }
}

impl<T> RateLimiter<T> for Bucket {
    fn when(&mut self, _item: &T, now: Instant) -> Duration {
        let full_at = self.full_at.map_or(now, |full_at| full_at.max(now));
        let full_at = full_at.checked_add(self.interval).unwrap_or(full_at);
        self.full_at = Some(full_at);
        full_at
            .saturating_duration_since(now)
            .saturating_sub(self.burst)
    }

    fn forget(&mut self, _item: &T) {}

    fn num_requeues(&self, _item: &T, _now: Instant) -> u32 {
        0
    }
}
