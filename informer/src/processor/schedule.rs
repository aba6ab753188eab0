//! The pure core of resyncing: the times of one handler's resyncs.

use std::time::Duration;

use tokio::time::Instant;

/// A period, and when it next comes due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Schedule {
    period: Duration,
    next: Instant,
}

// === impl Schedule ===

impl Schedule {
    /// First due one period after `now`; `None` if the period is `None`, or longer than the clock reaches.
    pub(super) fn new(period: Option<Duration>, now: Instant) -> Option<Self> {
        let period = period?;
        let next = now.checked_add(period)?;
        Some(Self { period, next })
    }

    pub(super) fn next(&self) -> Instant {
        self.next
    }

    /// Returns whether it is due; if so, it is next due one period after `now`: missed resyncs are not made up for.
    pub(super) fn is_due(&mut self, now: Instant) -> bool {
        let is_due = self.next <= now;
        if is_due {
            self.next = now + self.period;
        }
        is_due
    }
}
