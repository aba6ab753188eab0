//! The server's clock: a time of day that advances with tokio's clock, so that tests can pause it.

use jiff::Timestamp;
use tokio::time::Instant;

/// Returns the time of day for `creationTimestamp`, `Date` and similar fields.
///
/// The clock reads tokio's clock: on a paused runtime the time stands still until the runtime advances.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    start: Timestamp,
    origin: Instant,
}

// === impl Clock ===

impl Clock {
    /// Starts at `start` now, and then advances with tokio's clock.
    pub fn simulated(start: Timestamp) -> Self {
        Self {
            start,
            origin: Instant::now(),
        }
    }

    /// Reads the system's time of day once, now, and then advances with tokio's clock.
    pub fn wall() -> Self {
        #[expect(
            clippy::disallowed_methods,
            reason = "the one reading of the system clock, asked for by name"
        )]
        let start = Timestamp::now();
        Self::simulated(start)
    }

    /// The time of day.
    pub fn now(&self) -> Timestamp {
        self.start
            .checked_add(self.origin.elapsed())
            .unwrap_or(Timestamp::MAX)
    }

    /// The time of day in whole seconds, as the API writes it (RFC 3339, `Z`).
    pub fn now_text(&self) -> String {
        let now = self.now();
        Timestamp::from_second(now.as_second())
            .unwrap_or(now)
            .to_string()
    }
}

impl Default for Clock {
    /// [`Clock::simulated`] from 2026-01-01T00:00:00Z.
    fn default() -> Self {
        const START: Timestamp = Timestamp::constant(1_767_225_600, 0);
        Self::simulated(START)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_simulated_clock_follows_tokios_paused_clock() {
        let clock = Clock::default();
        assert_eq!(clock.now_text(), "2026-01-01T00:00:00Z");
        tokio::time::advance(Duration::from_millis(61_999)).await;
        assert_eq!(
            clock.now_text(),
            "2026-01-01T00:01:01Z",
            "whole seconds, never ahead"
        );
        assert_eq!(clock.now().as_millisecond() % 1_000, 999);
    }

    #[tokio::test(start_paused = true)]
    async fn the_end_of_time_is_no_panic() {
        let clock = Clock::simulated(Timestamp::MAX);
        tokio::time::advance(Duration::from_secs(5)).await;
        assert_eq!(clock.now(), Timestamp::MAX);
    }
}
