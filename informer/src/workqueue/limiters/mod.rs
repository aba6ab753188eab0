//! Rate limiters: the delay of a failed item before its next attempt.
//!
//! | limiter | delay |
//! |---|---|
//! | [`ItemExponentialFailure`] | doubles with each failure of the item, 5 ms to 1,000 s |
//! | [`ItemFastSlow`] | short for the item's first failures, then long |
//! | [`Bucket`] | what keeps all items together within a rate: 10 a second after a burst of 100 |
//! | [`MaxOf`] | the longest of several limiters' |
//! | [`WithMaxWait`] | another limiter's, up to a limit |
//!
//! A limiter is a value: it has no clock and no lock. The queue owns it, and passes it the time.

mod bucket;
mod failures;
mod item_exponential_failure;
mod item_fast_slow;
mod max_of;
#[cfg(test)]
mod tests;
mod with_max_wait;

use std::time::Duration;

use tokio::time::Instant;

pub use self::{
    bucket::Bucket, item_exponential_failure::ItemExponentialFailure, item_fast_slow::ItemFastSlow,
    max_of::MaxOf, with_max_wait::WithMaxWait,
};

/// Decides how long a failed item waits.
///
/// # Panics
///
/// If a method panics, only that call is lost; the queue continues.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not limit the rate of `{T}`",
    label = "no `RateLimiter<{T}>`",
    note = "`informer::workqueue::limiters` has those of client-go, such as `ItemExponentialFailure::new(base, max)`"
)]
#[doc(alias = "TypedRateLimiter")]
pub trait RateLimiter<T>: Send {
    /// Counts a failure of `item` and gives the time that it is to wait.
    #[doc(alias = "When")]
    fn when(&mut self, item: &T, now: Instant) -> Duration;

    /// The item succeeded, or was given up: its failures are forgotten.
    fn forget(&mut self, item: &T);

    /// Returns the number of failures since the item was last forgotten.
    fn num_requeues(&self, item: &T, now: Instant) -> u32;
}

/// Creates the limiter of controllers: the longer of an item's own exponential delay (5 ms to 1,000 s) and the delay
/// that keeps all items within 10 a second, after a burst of 100.
///
/// The bucket is shared: when very many items fail at once, the one that fails next waits for all of them. Where that is
/// unfair, [`ItemExponentialFailure::default`] alone is what controller-runtime's priority queue uses.
#[doc(alias = "DefaultTypedControllerRateLimiter")]
pub fn default_controller_rate_limiter<T>() -> MaxOf<T>
where
    T: Ord + Clone + Send + 'static,
{
    MaxOf::new(ItemExponentialFailure::default(), Bucket::default())
}

/// Creates the limiter of items that share nothing: an exponential delay of 1 ms to 1,000 s.
#[doc(alias = "DefaultTypedItemBasedRateLimiter")]
pub fn default_item_based_rate_limiter<T>() -> ItemExponentialFailure<T>
where
    T: Ord + Clone,
{
    ItemExponentialFailure::new(Duration::from_millis(1), Duration::from_secs(1_000))
}

// === impl RateLimiter ===

impl<T, L: RateLimiter<T> + ?Sized> RateLimiter<T> for Box<L> {
    fn when(&mut self, item: &T, now: Instant) -> Duration {
        (**self).when(item, now)
    }

    fn forget(&mut self, item: &T) {
        (**self).forget(item);
    }

    fn num_requeues(&self, item: &T, now: Instant) -> u32 {
        (**self).num_requeues(item, now)
    }
}
