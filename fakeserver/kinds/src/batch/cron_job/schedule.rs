//! Schedules of cron jobs, in the dialect of the Go library that a real server uses.

use std::time::Duration;

use jiff::SignedDuration;
use jiff::{Span, Timestamp, ToSpan, Zoned, tz::TimeZone};

/// A part of a schedule: its least and greatest number, and the names that stand for numbers.
struct ScheduleField {
    least: u32,
    greatest: u32,
    names: &'static [&'static str],
    first_name: u32,
}

/// A schedule: times that repeat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// Times of equal distance.
    Every(Duration),
    /// Minutes, hours, days of the month, months and days of the week.
    At([Numbers; 5]),
}

/// Numbers of a part of a schedule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Numbers {
    bits: u64,
    /// True if it is written with a star, or a question mark.
    is_open: bool,
}

const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];

const DAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

const PARTS: [ScheduleField; 5] = [
    ScheduleField::numbers(0, 59),
    ScheduleField::numbers(0, 23),
    ScheduleField::numbers(1, 31),
    ScheduleField {
        least: 1,
        greatest: 12,
        names: &MONTHS,
        first_name: 1,
    },
    ScheduleField {
        least: 0,
        greatest: 6,
        names: &DAYS,
        first_name: 0,
    },
];

/// Names of schedules, and the schedules that they stand for.
const DESCRIPTORS: [(&str, &str); 7] = [
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
    ("@monthly", "0 0 1 * *"),
    ("@weekly", "0 0 * * 0"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@hourly", "0 * * * *"),
];

const EVERY: &str = "@every ";

/// The number of years within which the next time of a schedule has to be.
const YEARS_MAX: i16 = 5;

// === impl Schedule ===

impl Schedule {
    /// Reads a schedule.
    ///
    /// # Errors
    ///
    /// The schedule is invalid. The error is in the words of a real server.
    pub fn parse(schedule: &str) -> Result<Self, String> {
        if let Some(text) = schedule.strip_prefix(EVERY) {
            return every(text).ok_or_else(|| {
                format!("failed to parse duration {schedule}: time: invalid duration {text:?}")
            });
        }
        if schedule.starts_with('@') {
            let mut descriptor = DESCRIPTORS.iter();
            let descriptor = descriptor.find(|(name, _)| *name == schedule);
            return match descriptor {
                Some((_, schedule)) => Self::parse(schedule),
                None => Err(format!("unrecognized descriptor: {schedule}")),
            };
        }
        let fields: Vec<&str> = schedule.split_whitespace().collect();
        if fields.len() != PARTS.len() {
            return Err(format!(
                "expected exactly {} fields, found {}: [{}]",
                PARTS.len(),
                fields.len(),
                fields.join(" ")
            ));
        }
        let mut all = [Numbers::default(); 5];
        for ((part, field), numbers) in PARTS.iter().zip(fields).zip(&mut all) {
            for range in field.split(',').filter(|range| !range.is_empty()) {
                let found = part.read(range)?;
                numbers.bits |= found.bits;
                numbers.is_open |= found.is_open;
            }
        }
        Ok(Self::At(all))
    }

    /// Returns the first time after `after`, if there is one within some years.
    pub fn next(&self, after: Timestamp, zone: &TimeZone) -> Option<Timestamp> {
        match self {
            Self::Every(pause) => {
                let whole = Timestamp::from_second(after.as_second()).ok()?;
                whole.checked_add(*pause).ok()
            }
            Self::At(numbers) => {
                let at = after.to_zoned(zone.clone());
                let whole = at.with().second(0).subsec_nanosecond(0).build().ok()?;
                next(numbers, whole.checked_add(1.minute()).ok()?)
            }
        }
    }
}

// === impl Numbers ===

impl Numbers {
    fn has(self, number: i8) -> bool {
        self.bits >> number & 1 == 1
    }
}

/// Returns the first time at or after `at`, which is a whole minute.
fn next(numbers: &[Numbers; 5], mut at: Zoned) -> Option<Timestamp> {
    let [minutes, hours, days, months, weekdays] = numbers;
    let end = at.year().saturating_add(YEARS_MAX);
    while at.year() <= end {
        let is_day = days.has(at.day());
        let is_weekday = weekdays.has(at.weekday().to_sunday_zero_offset());
        // Where both are limited, either is enough.
        let is_date = if days.is_open || weekdays.is_open {
            is_day && is_weekday
        } else {
            is_day || is_weekday
        };
        let pause: Span = if !months.has(at.month()) {
            at = at.first_of_month().ok()?.start_of_day().ok()?;
            1.month()
        } else if !is_date {
            at = at.start_of_day().ok()?;
            1.day()
        } else if !hours.has(at.hour()) {
            at = at.with().minute(0).build().ok()?;
            1.hour()
        } else if !minutes.has(at.minute()) {
            1.minute()
        } else {
            return Some(at.timestamp());
        };
        at = at.checked_add(pause).ok()?;
    }
    None
}

/// Reads a duration in the form of Go. Less than a second counts as one.
fn every(text: &str) -> Option<Schedule> {
    let pause: SignedDuration = text.trim().parse().ok()?;
    let seconds = u64::try_from(pause.as_secs()).ok()?;
    Some(Schedule::Every(Duration::from_secs(seconds.max(1))))
}

// === impl ScheduleField ===

impl ScheduleField {
    const fn numbers(least: u32, greatest: u32) -> Self {
        Self {
            least,
            greatest,
            names: &[],
            first_name: 0,
        }
    }

    /// Reads a range such as `*`, `3`, `1-5` or `*/15`.
    fn read(&self, range: &str) -> Result<Numbers, String> {
        let steps: Vec<&str> = range.split('/').collect();
        let ends: Vec<&str> = steps[0].split('-').collect();
        let mut is_open = matches!(ends[0], "*" | "?");
        let (start, mut end) = if is_open {
            (self.least, self.greatest)
        } else {
            let start = self.number(ends[0])?;
            match ends.as_slice() {
                [_] => (start, start),
                [_, end] => (start, self.number(end)?),
                _ => return Err(format!("too many hyphens: {range}")),
            }
        };
        let step = match steps.as_slice() {
            [_] => 1,
            [_, step] => {
                let step = number(step)?;
                if ends.len() == 1 {
                    end = self.greatest;
                }
                is_open &= step <= 1;
                step
            }
            _ => return Err(format!("too many slashes: {range}")),
        };
        self.check(range, start, end, step)?;
        let every = usize::try_from(step).unwrap_or(usize::MAX);
        let numbers = (start..=end).step_by(every);
        Ok(Numbers {
            bits: numbers.fold(0, |bits, number| bits | 1 << number),
            is_open,
        })
    }

    fn check(&self, range: &str, start: u32, end: u32, step: u32) -> Result<(), String> {
        if start < self.least {
            return Err(format!(
                "beginning of range ({start}) below minimum ({}): {range}",
                self.least
            ));
        }
        if end > self.greatest {
            return Err(format!(
                "end of range ({end}) above maximum ({}): {range}",
                self.greatest
            ));
        }
        if start > end {
            return Err(format!(
                "beginning of range ({start}) beyond end of range ({end}): {range}"
            ));
        }
        if step == 0 {
            return Err(format!(
                "step of range should be a positive number: {range}"
            ));
        }
        Ok(())
    }

    fn number(&self, text: &str) -> Result<u32, String> {
        let lower = text.to_lowercase();
        let named = self.names.iter().zip(self.first_name..);
        match named.into_iter().find(|(name, _)| **name == lower) {
            Some((_, number)) => Ok(number),
            None => number(text),
        }
    }
}

fn number(text: &str) -> Result<u32, String> {
    let parsed: Result<i64, _> = text.parse();
    match parsed {
        Ok(number) => u32::try_from(number)
            .map_err(|_| format!("negative number ({number}) not allowed: {text}")),
        Err(_) => Err(format!(
            "failed to parse int from {text}: strconv.Atoi: parsing {text:?}: invalid syntax"
        )),
    }
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZoneDatabase;

    use super::*;

    #[test]
    fn the_next_time_is_the_first_that_fits() {
        // The first day of 2026 is a Thursday.
        let table = [
            ("* * * * *", "2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z"),
            (
                "* * * * *",
                "2026-01-01T00:00:59.9Z",
                "2026-01-01T00:01:00Z",
            ),
            (
                "*/15 3 * * *",
                "2026-01-01T03:45:00Z",
                "2026-01-02T03:00:00Z",
            ),
            (
                "0 0 13 * fri",
                "2026-01-01T00:00:00Z",
                "2026-01-02T00:00:00Z",
            ),
            ("0 0 13 * *", "2026-01-01T00:00:00Z", "2026-01-13T00:00:00Z"),
            (
                "0 0 */2 * fri",
                "2026-01-01T00:00:00Z",
                "2026-01-02T00:00:00Z",
            ),
            ("0 0 29 2 *", "2026-01-01T00:00:00Z", "2028-02-29T00:00:00Z"),
            ("@monthly", "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"),
            ("@weekly", "2026-01-01T00:00:00Z", "2026-01-04T00:00:00Z"),
            (
                "@every 90s",
                "2026-01-01T00:00:00.5Z",
                "2026-01-01T00:01:30Z",
            ),
            ("@every 1ms", "2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z"),
        ];
        for (schedule, after, next) in table {
            let schedule = Schedule::parse(schedule).unwrap();
            let found = schedule.next(after.parse().unwrap(), &TimeZone::UTC);
            assert_eq!(found, Some(next.parse().unwrap()), "{schedule:?}");
        }
        let never = Schedule::parse("0 0 31 2 *").unwrap();
        assert_eq!(never.next(Timestamp::UNIX_EPOCH, &TimeZone::UTC), None);
    }

    #[test]
    fn times_are_those_of_the_zone() {
        let zone = TimeZoneDatabase::bundled().get("Europe/Berlin").unwrap();
        let schedule = Schedule::parse("30 2 * * *").unwrap();
        // In the night to the 29th of March there is no such time.
        let mut at: Timestamp = "2026-03-27T12:00:00Z".parse().unwrap();
        for next in ["2026-03-28T01:30:00Z", "2026-03-30T00:30:00Z"] {
            at = schedule.next(at, &zone).unwrap();
            assert_eq!(at, next.parse().unwrap());
        }
    }
}
