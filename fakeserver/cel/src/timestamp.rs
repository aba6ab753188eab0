//! Times with their offsets from UTC, from the year 1 to the year 9999.

use std::{cmp::Ordering, fmt};

use fakeserver_value::schema::parse_civil_time;
use jiff::{SignedDuration, civil::DateTime};

const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);
const NANOSECONDS: i128 = 1_000_000_000;

/// A time. Two are equal if they are the same instant.
#[derive(Clone, Copy, Debug)]
pub struct Timestamp {
    utc: DateTime,
    /// The offset in which the time is printed.
    offset_seconds: i32,
}

/// The reason for which a text is no time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimestampError {
    /// The text does not have the form of RFC 3339.
    Form,
    /// The time is before the year 1, or after the year 9999.
    Range,
}

// === impl Timestamp ===

impl Timestamp {
    /// Reads a time of RFC 3339.
    pub(super) fn parse(text: &str) -> Result<Self, TimestampError> {
        let (local, offset_seconds) = parse_civil_time(text).map_err(|_| TimestampError::Form)?;
        let offset = SignedDuration::from_secs(offset_seconds.into());
        let utc = local.checked_sub(offset).ok().and_then(in_range);
        Ok(Self {
            utc: utc.ok_or(TimestampError::Range)?,
            offset_seconds,
        })
    }

    /// Returns the time `seconds` seconds after 1970, if it is in range.
    pub(super) fn from_seconds(seconds: i64) -> Option<Self> {
        let since = SignedDuration::from_secs(seconds);
        Some(Self {
            utc: in_range(EPOCH.checked_add(since).ok()?)?,
            offset_seconds: 0,
        })
    }

    /// Returns the whole seconds since 1970.
    pub(super) fn seconds(self) -> i64 {
        let since = self.utc.duration_since(EPOCH).as_nanos();
        i64::try_from(since.div_euclid(NANOSECONDS)).unwrap_or_default()
    }

    /// Adds nanoseconds to the time; `None` out of range.
    pub(super) fn checked_add(self, nanoseconds: i64) -> Option<Self> {
        let by = SignedDuration::from_nanos(nanoseconds);
        let utc = in_range(self.utc.checked_add(by).ok()?)?;
        Some(Self { utc, ..self })
    }

    /// Returns the nanoseconds since another time, if 64 bits are enough.
    pub(super) fn since(self, other: Self) -> Option<i64> {
        let since = self.utc.duration_since(other.utc).as_nanos();
        i64::try_from(since).ok()
    }

    /// Returns date and time of the day in UTC.
    pub(super) fn utc(self) -> DateTime {
        self.utc
    }
}

impl PartialEq for Timestamp {
    fn eq(&self, other: &Self) -> bool {
        self.utc == other.utc
    }
}

impl Eq for Timestamp {}

impl PartialOrd for Timestamp {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Timestamp {
    fn cmp(&self, other: &Self) -> Ordering {
        self.utc.cmp(&other.utc)
    }
}

impl fmt::Display for Timestamp {
    /// Prints RFC 3339, with no more digits of a second than needed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let offset = SignedDuration::from_secs(self.offset_seconds.into());
        let local = self.utc.saturating_add(offset);
        if self.offset_seconds == 0 {
            return write!(f, "{local}Z");
        }
        let sign = if self.offset_seconds < 0 { '-' } else { '+' };
        let minutes = self.offset_seconds.abs() / 60;
        write!(f, "{local}{sign}{:02}:{:02}", minutes / 60, minutes % 60)
    }
}

fn in_range(utc: DateTime) -> Option<DateTime> {
    (utc.year() >= 1).then_some(utc)
}

#[cfg(test)]
mod tests {
    use super::{Timestamp, TimestampError};

    #[track_caller]
    fn time(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    #[test]
    fn times_are_printed_with_their_offset() {
        for (text, printed) in [
            ("2024-01-02T03:04:05Z", "2024-01-02T03:04:05Z"),
            ("2024-01-02T03:04:05+00:00", "2024-01-02T03:04:05Z"),
            (
                "2024-01-02T03:04:05.500+02:30",
                "2024-01-02T03:04:05.5+02:30",
            ),
            (
                "2024-01-02T03:04:05.000000001-00:30",
                "2024-01-02T03:04:05.000000001-00:30",
            ),
            ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
            (
                "9999-12-31T23:59:59.999999999Z",
                "9999-12-31T23:59:59.999999999Z",
            ),
        ] {
            assert_eq!(time(text).to_string(), printed);
        }
    }

    #[test]
    fn times_have_a_form_and_a_range() {
        for (text, error) in [
            ("2024", TimestampError::Form),
            ("2024-01-02", TimestampError::Form),
            ("2024-01-02T03:04:05", TimestampError::Form),
            ("2024-01-02t03:04:05z", TimestampError::Form),
            ("2024-02-30T03:04:05Z", TimestampError::Form),
            ("2024-01-02T24:00:00Z", TimestampError::Form),
            ("2024-01-02T03:04:60Z", TimestampError::Form),
            ("10000-01-01T00:00:00Z", TimestampError::Form),
            ("0000-01-01T00:00:00Z", TimestampError::Range),
            ("0001-01-01T00:00:00+00:01", TimestampError::Range),
            ("9999-12-31T23:59:59-00:01", TimestampError::Range),
        ] {
            assert_eq!(Timestamp::parse(text), Err(error), "{text}");
        }
        assert_eq!(Timestamp::from_seconds(253_402_300_800), None);
        assert_eq!(Timestamp::from_seconds(-62_135_596_801), None);
        assert!(Timestamp::from_seconds(253_402_300_799).is_some());
        assert!(Timestamp::from_seconds(-62_135_596_800).is_some());
    }

    #[test]
    fn times_are_compared_and_calculated_with_as_instants() {
        let noon = time("2024-01-02T12:00:00Z");
        assert_eq!(noon, time("2024-01-02T14:00:00+02:00"));
        assert!(noon < time("2024-01-02T12:00:00.000000001Z"));
        assert_eq!(
            noon.since(time("2024-01-02T11:59:59.5Z")),
            Some(500_000_000)
        );
        assert_eq!(noon.since(time("1024-01-02T12:00:00Z")), None);
        let later = time("2024-01-02T23:30:00-01:00").checked_add(3_600_000_000_000);
        assert_eq!(later.unwrap().to_string(), "2024-01-03T00:30:00-01:00");
        assert_eq!(
            time("9999-12-31T23:59:59Z").checked_add(1_000_000_000),
            None
        );
        assert_eq!(time("0001-01-01T00:00:00Z").checked_add(-1), None);
        assert_eq!(time("1969-12-31T23:59:59.5Z").seconds(), -1);
        assert_eq!(time("1970-01-01T00:00:01.5Z").seconds(), 1);
    }
}
