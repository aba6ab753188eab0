//! The times at which APIs are checked.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use tokio::time::Instant;

/// The number of checks at once, as an API server has it.
const CHECKS_MAX: usize = 5;
/// The time after which an API is checked again, whatever the last check has found.
const PERIOD: Duration = Duration::from_secs(30);
/// The retry delay of a failed check; it doubles with each failure, up to [`PERIOD`].
const FIRST_RETRY: Duration = Duration::from_millis(5);

/// The due and the running checks: one at a time for each API.
#[derive(Debug, Default)]
pub(super) struct Schedule {
    due: BTreeMap<String, Instant>,
    going_on: BTreeSet<String>,
    /// The number of failures in a row.
    failures: BTreeMap<String, u32>,
}

/// The time of the next check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextCheck {
    /// The server has not answered: retry with backoff.
    Soon,
    InPeriod,
    /// The API is local, or gone.
    Never,
}

// === impl Schedule ===

impl Schedule {
    /// Lets an API be checked at `now`, or as soon as the present check of it is done.
    pub(super) fn add(&mut self, name: String, now: Instant) {
        self.due.insert(name, now);
    }

    /// Returns the APIs to check at `now`, as many as may be checked at once.
    pub(super) fn take(&mut self, now: Instant) -> Vec<String> {
        // A limit, so that many unreachable APIs do not open connections all at once.
        let room = CHECKS_MAX.saturating_sub(self.going_on.len());
        let free = self
            .due
            .iter()
            .filter(|(name, at)| **at <= now && !self.going_on.contains(*name));
        let names: Vec<String> = free.take(room).map(|(name, _)| name.clone()).collect();
        for name in &names {
            self.due.remove(name);
            self.going_on.insert(name.clone());
        }
        names
    }

    /// Notes that the check of an API is done. A check that was requested meanwhile is still due.
    pub(super) fn done(&mut self, name: &str, next: NextCheck, now: Instant) {
        self.going_on.remove(name);
        let wait = match next {
            NextCheck::Soon => {
                let failures = self.failures.entry(name.to_owned()).or_default();
                let factor = 2_u32.saturating_pow(*failures);
                *failures += 1;
                FIRST_RETRY.saturating_mul(factor).min(PERIOD)
            }
            NextCheck::InPeriod | NextCheck::Never => {
                self.failures.remove(name);
                PERIOD
            }
        };
        if next != NextCheck::Never {
            // Kept if requested meanwhile: the API has changed during the check.
            self.due.entry(name.to_owned()).or_insert(now + wait);
        }
    }

    /// Returns the time at which a check can begin, if nothing else happens.
    pub(super) fn next(&self) -> Option<Instant> {
        if self.going_on.len() >= CHECKS_MAX {
            return None;
        }
        let free = self.due.iter();
        let free = free.filter(|(name, _)| !self.going_on.contains(*name));
        free.map(|(_, at)| *at).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_retried_later_and_later_and_successes_in_a_period() {
        let start = Instant::now();
        let mut schedule = Schedule::default();
        schedule.add("a".to_owned(), start);
        let mut waits = Vec::new();
        let mut now = start;
        for _ in 0..15 {
            assert_eq!(schedule.take(now), ["a"]);
            schedule.done("a", NextCheck::Soon, now);
            let next = schedule.next().unwrap();
            assert!(schedule.take(next - Duration::from_millis(1)).is_empty());
            waits.push((next - now).as_millis());
            now = next;
        }
        assert_eq!(waits[..4], [5, 10, 20, 40]);
        assert_eq!(waits[12..], [20_480, 30_000, 30_000]);
        assert_eq!(schedule.take(now), ["a"]);
        schedule.done("a", NextCheck::InPeriod, now);
        assert_eq!(schedule.next(), Some(now + PERIOD));
        now += PERIOD;
        assert_eq!(schedule.take(now), ["a"]);
        schedule.done("a", NextCheck::Soon, now);
        assert_eq!(schedule.next(), Some(now + FIRST_RETRY));
    }

    #[test]
    fn an_api_is_checked_once_at_a_time_and_few_are_checked_at_once() {
        let now = Instant::now();
        let mut schedule = Schedule::default();
        for name in ["a", "b", "c", "d", "e", "f"] {
            schedule.add(name.to_owned(), now);
        }
        assert_eq!(schedule.take(now), ["a", "b", "c", "d", "e"]);
        assert_eq!(schedule.next(), None);
        schedule.add("a".to_owned(), now);
        schedule.done("b", NextCheck::Never, now);
        assert_eq!(schedule.take(now), ["f"]);
        schedule.done("a", NextCheck::InPeriod, now);
        // The check was requested while it ran.
        assert_eq!(schedule.take(now), ["a"]);
        schedule.done("c", NextCheck::InPeriod, now);
        assert_eq!(schedule.next(), Some(now + PERIOD));
    }
}
