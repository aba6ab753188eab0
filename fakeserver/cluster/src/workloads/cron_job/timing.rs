//! The time for which a cron job is to create its next job.

use std::time::Duration;

use fakeserver_kinds::batch::cron_job::schedule::Schedule;
use jiff::{SignedDuration, Timestamp, tz::TimeZone};

/// The number of missed times from which there are too many.
const MISSED_MAX: i64 = 100;
/// A pause after each time of a schedule, so that it is certainly over.
const PADDING: Duration = Duration::from_millis(100);

/// A schedule, and the time of its last job.
#[derive(Debug)]
pub(super) struct Timing<'a> {
    pub(super) schedule: &'a Schedule,
    pub(super) zone: &'a TimeZone,
    /// The last time for which there was a job, or else that of the creation.
    pub(super) last: Timestamp,
    /// A job may be created for this long after its time.
    pub(super) deadline: Option<SignedDuration>,
}

/// The latest time of a schedule that has passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ScheduledTime {
    pub(super) at: Timestamp,
    /// True if so many earlier times were missed that an event warns about it.
    pub(super) misses_many: bool,
}

// === impl Timing ===

impl Timing<'_> {
    /// Returns the latest time that is over and for which there was no job.
    ///
    /// # Errors
    ///
    /// The schedule has no times.
    pub(super) fn due(&self, now: Timestamp) -> Result<Option<ScheduledTime>, String> {
        let since = self
            .deadline
            .and_then(|deadline| now.checked_sub(deadline).ok());
        self.latest(since.map_or(self.last, |since| since.max(self.last)), now)
    }

    /// Returns the time until the next time of the schedule.
    pub(super) fn wait(&self, now: Timestamp) -> Option<Duration> {
        let from = match self.latest(self.last, now) {
            Ok(Some(latest)) => latest.at,
            Ok(None) => self.last,
            Err(_) => now,
        };
        let next = self.schedule.next(from, self.zone)?;
        let wait = Duration::try_from(next.duration_since(now)).unwrap_or_default();
        Some(wait + PADDING)
    }

    fn latest(&self, since: Timestamp, now: Timestamp) -> Result<Option<ScheduledTime>, String> {
        let next = |after| self.schedule.next(after, self.zone);
        let none = "time difference between two schedules is less than 1 second";
        let first = next(since).ok_or(none)?;
        if now < first {
            return Ok(None);
        }
        let second = next(first).ok_or(none)?;
        let scheduled = |at, missed: i64| ScheduledTime {
            at,
            misses_many: missed > MISSED_MAX,
        };
        if now < second {
            return Ok(Some(scheduled(first, 0)));
        }
        // The schedule is taken as regular, so that not all the times of a long pause are counted.
        let step = second.duration_since(first);
        let missed = now.duration_since(first).as_secs() / step.as_secs().max(1) + 1;
        let skipped = i32::try_from(missed - 2).unwrap_or(i32::MAX);
        let mut from = step
            .checked_mul(skipped)
            .and_then(|skipped| first.checked_add(skipped).ok())
            .unwrap_or(first);
        let mut latest = None;
        while let Some(at) = next(from).filter(|at| *at <= now) {
            latest = Some(scheduled(at, missed));
            from = at;
        }
        Ok(latest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_times_the_latest_counts() {
        let schedule = Schedule::parse("0 * * * *").unwrap();
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let table = [
            ("2026-01-01T00:59:59Z", None, None, 1),
            (
                "2026-01-01T01:00:00Z",
                None,
                Some(("2026-01-01T01:00:00Z", false)),
                3_600,
            ),
            (
                "2026-01-01T09:30:00Z",
                None,
                Some(("2026-01-01T09:00:00Z", false)),
                1_800,
            ),
            (
                "2026-01-09T09:30:00Z",
                None,
                Some(("2026-01-09T09:00:00Z", true)),
                1_800,
            ),
            ("2026-01-01T09:30:00Z", Some(60), None, 1_800),
            (
                "2026-01-01T09:30:00Z",
                Some(3_600),
                Some(("2026-01-01T09:00:00Z", false)),
                1_800,
            ),
        ];
        for (now, deadline, expected, wait) in table {
            let timing = Timing {
                schedule: &schedule,
                zone: &TimeZone::UTC,
                last: at("2026-01-01T00:00:00Z"),
                deadline: deadline.map(SignedDuration::from_secs),
            };
            let expected = expected.map(|(time, misses_many)| ScheduledTime {
                at: at(time),
                misses_many,
            });
            assert_eq!(timing.due(at(now)), Ok(expected), "{now}");
            let wait = Duration::from_secs(wait) + PADDING;
            assert_eq!(timing.wait(at(now)), Some(wait), "{now}");
        }
        let never = Schedule::parse("0 0 31 2 *").unwrap();
        let timing = Timing {
            schedule: &never,
            zone: &TimeZone::UTC,
            last: Timestamp::UNIX_EPOCH,
            deadline: None,
        };
        assert!(timing.due(at("2026-01-01T00:00:00Z")).is_err());
    }
}
