//! The pauses of a job after failures. A pure core.

use std::{collections::BTreeMap, time::Duration};

use tokio::time::Instant;

use crate::workloads::backoff::backoff;

/// The longest pause, in units of the first one: 10 minutes for one of 10 s.
const PAUSES_MAX: u32 = 60;

/// The pauses of a job, or of each of its indexes.
///
/// # Memory
///
/// An entry for each index that has failed.
#[derive(Clone, Debug, Default)]
pub(super) struct Pauses {
    /// The number of failures since the last success.
    failures: u32,
    /// The time from which on pods are created again.
    until: Option<Instant>,
    /// The times from which on pods are created again for an index.
    by_index: BTreeMap<i64, Instant>,
}

/// Returns the pause after a number of failures: `first` after the first one.
fn pause(first: Duration, failures: u32) -> Duration {
    backoff(first, failures, first * PAUSES_MAX)
}

// === impl Pauses ===

impl Pauses {
    /// Notes `new` failures of a job: no pod is created for a while.
    pub(super) fn note(&mut self, new: u32, first: Duration, now: Instant) {
        self.failures = self.failures.saturating_add(new);
        self.until = Some(now + pause(first, self.failures));
    }

    /// Notes failures of indexes, of each the number so far: no pod is created for these for a while.
    #[doc(alias = "getRemainingTimePerIndex")]
    pub(super) fn note_indexes(
        &mut self,
        failures: &BTreeMap<i64, i64>,
        first: Duration,
        now: Instant,
    ) {
        for (index, failures) in failures {
            let failures = u32::try_from(*failures).unwrap_or(u32::MAX);
            self.by_index.insert(*index, now + pause(first, failures));
        }
    }

    /// Returns how long no pod is created, if one may not be.
    pub(super) fn of_all(&self, now: Instant) -> Option<Duration> {
        let left = self.until?.saturating_duration_since(now);
        (!left.is_zero()).then_some(left)
    }

    /// Returns the indexes for which no pod is created yet, and for how long.
    pub(super) fn of_indexes(&self, now: Instant) -> BTreeMap<i64, Duration> {
        let all = self.by_index.iter();
        let left = all.map(|(index, until)| (*index, until.saturating_duration_since(now)));
        left.filter(|(_, left)| !left.is_zero()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: Duration = Duration::from_secs(10);

    #[tokio::test(start_paused = true)]
    async fn each_failure_doubles_the_pause_of_a_job() {
        let now = Instant::now();
        let mut pauses = Pauses::default();
        assert_eq!(pauses.of_all(now), None);
        pauses.note(1, FIRST, now);
        assert_eq!(pauses.of_all(now), Some(FIRST));
        pauses.note(2, FIRST, now);
        assert_eq!(pauses.of_all(now), Some(FIRST * 4));
        assert_eq!(pauses.of_all(now + FIRST * 4), None);
        pauses.note(99, FIRST, now);
        assert_eq!(pauses.of_all(now), Some(FIRST * 60));
    }

    #[tokio::test(start_paused = true)]
    async fn an_index_waits_for_its_own_failures_only() {
        let now = Instant::now();
        let mut pauses = Pauses::default();
        pauses.note_indexes(&BTreeMap::from([(0, 1), (3, 2)]), FIRST, now);
        assert_eq!(pauses.of_all(now), None);
        assert_eq!(
            pauses.of_indexes(now + FIRST / 2),
            BTreeMap::from([(0, FIRST / 2), (3, FIRST * 3 / 2)])
        );
        assert!(pauses.of_indexes(now + FIRST * 2).is_empty());
    }
}
