//! Jittered exponential backoff, and jitter, from seeded generators: both are values, and equal seeds give equal draws.

#[cfg(test)]
mod tests;

use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The growth of delays between attempts.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct BackoffOptions {
    /// The first delay, before jitter; 800 ms. At least 1 ms is used, so that no setting makes a hot loop.
    pub initial: Duration,
    /// The longest delay, before jitter; 30 s.
    pub max: Duration,
    /// By how much the delay grows from one attempt to the next; 2. Less than 1 counts as 1.
    pub factor: f64,
    /// The part of a delay that is added at random, at most; 1.0, so that a delay lies between itself and its double.
    pub jitter: f64,
    /// The longest delay that a server's `Retry-After` can demand; 5 min.
    pub retry_after_max: Duration,
}

/// Gives the delay before the next attempt.
///
/// The delay grows with every call until [`reset`](Self::reset), however much time passes: resetting by the clock would
/// turn a long outage into waves of quick attempts. The owner resets when the other side has proved healthy.
#[doc(alias = "BackoffManager")]
#[derive(Clone, Debug)]
pub(crate) struct Backoff {
    options: BackoffOptions,
    attempt: u32,
    jitter: Jitter,
}

/// A seeded generator of jitter.
#[derive(Clone, Debug)]
pub(crate) struct Jitter(ChaCha8Rng);

// === impl BackoffOptions ===

impl Default for BackoffOptions {
    fn default() -> Self {
        Self {
            initial: Duration::from_millis(800),
            max: Duration::from_secs(30),
            factor: 2.0,
            jitter: 1.0,
            retry_after_max: Duration::from_mins(5),
        }
    }
}

impl BackoffOptions {
    /// With this first delay, before jitter.
    #[must_use]
    pub fn with_initial(mut self, initial: Duration) -> Self {
        self.initial = initial;
        self
    }

    /// With no delay longer than this, before jitter.
    #[must_use]
    pub fn with_max(mut self, max: Duration) -> Self {
        self.max = max;
        self
    }

    /// With delays that grow by this factor.
    #[must_use]
    pub fn with_factor(mut self, factor: f64) -> Self {
        self.factor = factor;
        self
    }

    /// With at most this part of a delay added at random.
    #[must_use]
    pub fn with_jitter(mut self, jitter: f64) -> Self {
        self.jitter = jitter;
        self
    }

    /// Never waits for longer than this because of a `Retry-After`, before jitter.
    #[must_use]
    pub fn with_retry_after_max(mut self, max: Duration) -> Self {
        self.retry_after_max = max;
        self
    }
}

// === impl Backoff ===

impl Backoff {
    /// The smallest first delay.
    const INITIAL_MIN: Duration = Duration::from_millis(1);
    /// The largest jitter.
    const JITTER_MAX: f64 = 10.0;

    /// Creates a backoff at its first attempt.
    pub(crate) fn new(options: BackoffOptions, seed: u64) -> Self {
        Self {
            options,
            attempt: 0,
            jitter: Jitter::new(seed),
        }
    }

    /// The delay before the next attempt, at least `retry_after` if the server asked for that.
    pub(crate) fn next_delay(&mut self, retry_after: Option<Duration>) -> Duration {
        let base = self.base();
        self.attempt = self.attempt.saturating_add(1);
        let share = if self.options.jitter.is_finite() {
            self.options.jitter.clamp(0.0, Self::JITTER_MAX)
        } else {
            0.0
        };
        let jitter = base.mul_f64(share * self.jitter.share());
        let min = retry_after
            .unwrap_or_default()
            .min(self.options.retry_after_max);
        // Jitter is added to `Retry-After` too: the server asks all its clients for the same delay.
        base.max(min) + jitter
    }

    /// Begins again with the first delay.
    pub(crate) fn reset(&mut self) {
        self.attempt = 0;
    }

    /// Returns the number of delays since the last reset.
    pub(crate) fn attempt(&self) -> u32 {
        self.attempt
    }

    fn base(&self) -> Duration {
        let options = &self.options;
        let initial = options.initial.max(Self::INITIAL_MIN);
        let max = options.max.max(initial);
        // Beyond this many doublings the limit is reached for certain, and the power might overflow.
        let exponent = i32::try_from(self.attempt.min(64)).expect("at most 64");
        let seconds = initial.as_secs_f64() * options.factor.max(1.0).powi(exponent);
        if seconds < max.as_secs_f64() {
            Duration::from_secs_f64(seconds)
        } else {
            max
        }
    }
}

// === impl Jitter ===

impl Jitter {
    pub(crate) fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// Creates one whose draws are independent of those of [`new`](Self::new) with the same seed.
    pub(crate) fn second(seed: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(1);
        Self(random)
    }

    /// Draws a number from 0 to less than 1.
    pub(crate) fn share(&mut self) -> f64 {
        self.0.random()
    }

    /// Draws a number from `min`, which is not 0, to less than its double.
    pub(crate) fn up_to_double(&mut self, min: u64) -> u64 {
        self.0.random_range(min..min * 2)
    }
}
