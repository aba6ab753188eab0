//! Times as Go parses and prints them, with Go's errors.

use std::fmt::Write as _;

use jiff::{Timestamp, civil::DateTime, tz::TimeZone};

/// The number of digits of a second in a kind of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "complete by definition: the two kinds of times in the API"
)]
pub enum Precision {
    /// `metav1.Time`.
    Seconds,
    /// `metav1.MicroTime`.
    Micros,
}

/// The text is no time; the messages are Go's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct TimeError {
    message: String,
}

/// Go's zero time, which prints as null.
pub fn is_zero(time: Timestamp) -> bool {
    time == DateTime::constant(1, 1, 1, 0, 0, 0, 0)
        .to_zoned(TimeZone::UTC)
        .expect("the first year is within range")
        .timestamp()
}

/// Prints a time in UTC, cut to its precision.
pub fn print(time: Timestamp, precision: Precision) -> String {
    let digits = match precision {
        Precision::Seconds => 0,
        Precision::Micros => 6,
    };
    let time = cut(time, precision).to_zoned(TimeZone::UTC);
    let format = if digits == 0 {
        "%Y-%m-%dT%H:%M:%SZ"
    } else {
        "%Y-%m-%dT%H:%M:%S.%6fZ"
    };
    time.strftime(format).to_string()
}

/// Reads RFC 3339.
///
/// # Errors
/// The text is no such time; [`Precision::Micros`] also wants exactly six digits of a second.
pub fn parse(text: &str, precision: Precision) -> Result<Timestamp, TimeError> {
    let layout = match precision {
        Precision::Seconds => "2006-01-02T15:04:05Z07:00",
        Precision::Micros => "2006-01-02T15:04:05.000000Z07:00",
    };
    Reader {
        text,
        rest: text,
        layout,
    }
    .time(precision)
}

/// Reads RFC 3339 as date and time of the day, with the offset from UTC in seconds.
///
/// # Errors
/// The text is no such time.
pub fn parse_civil(text: &str) -> Result<(DateTime, i32), TimeError> {
    let layout = "2006-01-02T15:04:05Z07:00";
    Reader {
        text,
        rest: text,
        layout,
    }
    .civil_time(Precision::Seconds)
}

/// Truncates a time to the precision; Go rounds towards the past.
fn cut(time: Timestamp, precision: Precision) -> Timestamp {
    let unit = match precision {
        Precision::Seconds => 1_000_000_000,
        Precision::Micros => 1_000,
    };
    let nanos = time.as_nanosecond();
    Timestamp::from_nanosecond(nanos - nanos.rem_euclid(unit)).unwrap_or(time)
}

struct Reader<'a> {
    text: &'a str,
    rest: &'a str,
    layout: &'static str,
}

// === impl Reader ===

impl Reader<'_> {
    fn time(&mut self, precision: Precision) -> Result<Timestamp, TimeError> {
        let (civil, offset_seconds) = self.civil_time(precision)?;
        let time = civil.to_zoned(TimeZone::UTC).map(|zoned| zoned.timestamp());
        let offset = jiff::SignedDuration::from_secs(offset_seconds.into());
        let time = time.and_then(|time| time.checked_sub(offset));
        time.map_err(|_| self.error(": year out of range"))
    }

    fn civil_time(&mut self, precision: Precision) -> Result<(DateTime, i32), TimeError> {
        let year = self.number("2006", 4, 4)?;
        self.literal("-")?;
        let month = self.number("01", 2, 2)?;
        self.check("month", (1..=12).contains(&month))?;
        self.literal("-")?;
        let day = self.number("02", 2, 2)?;
        self.literal("T")?;
        let hour = self.number("15", 1, 2)?;
        self.check("hour", hour < 24)?;
        self.literal(":")?;
        let minute = self.number("04", 2, 2)?;
        self.check("minute", minute < 60)?;
        self.literal(":")?;
        let second = self.number("05", 2, 2)?;
        self.check("second", second < 60)?;
        let nanos = self.fraction(precision)?;
        let offset_seconds = self.zone()?;
        if !self.rest.is_empty() {
            return Err(self.error(&format!(": extra text: {}", quote(self.rest))));
        }
        let narrow = |value: i64| i8::try_from(value).unwrap_or(-1);
        let civil = DateTime::new(
            i16::try_from(year).unwrap_or(-1),
            narrow(month),
            narrow(day),
            narrow(hour),
            narrow(minute),
            narrow(second),
            i32::try_from(nanos).unwrap_or(0),
        );
        let civil = civil.map_err(|_| self.error(": day out of range"))?;
        Ok((civil, offset_seconds))
    }

    /// Reads between `least` and `most` digits.
    fn number(&mut self, element: &str, least: usize, most: usize) -> Result<i64, TimeError> {
        let digits = self.rest.bytes().take(most).take_while(u8::is_ascii_digit);
        let count = digits.count();
        if count < least {
            return Err(self.cannot_parse(element));
        }
        let (digits, rest) = self.rest.split_at(count);
        self.rest = rest;
        Ok(digits.parse().expect("at most nine digits"))
    }

    fn literal(&mut self, literal: &str) -> Result<(), TimeError> {
        let rest = self.rest.strip_prefix(literal);
        self.rest = rest.ok_or_else(|| self.cannot_parse(literal))?;
        Ok(())
    }

    /// The digits of a second, in nanoseconds.
    fn fraction(&mut self, precision: Precision) -> Result<i64, TimeError> {
        let digits = match (self.rest.strip_prefix(['.', ',']), precision) {
            (Some(rest), Precision::Seconds) => rest.bytes().take_while(u8::is_ascii_digit).count(),
            (Some(rest), Precision::Micros)
                if rest.len() >= 6 && rest.bytes().take(6).all(|byte| byte.is_ascii_digit()) =>
            {
                6
            }
            (_, Precision::Micros) => return Err(self.cannot_parse(".000000")),
            (None, Precision::Seconds) => 0,
        };
        if digits == 0 {
            return Ok(0);
        }
        let (fraction, rest) = self.rest.split_at(1 + digits);
        self.rest = rest;
        let padded: String = fraction[1..]
            .chars()
            .chain("000000000".chars())
            .take(9)
            .collect();
        Ok(padded.parse().expect("nine digits"))
    }

    /// The offset from UTC, in seconds.
    fn zone(&mut self) -> Result<i32, TimeError> {
        if let Some(rest) = self.rest.strip_prefix('Z') {
            self.rest = rest;
            return Ok(0);
        }
        let text = self.rest.as_bytes();
        let well_formed = text.len() >= 6
            && matches!(text[0], b'+' | b'-')
            && text[3] == b':'
            && [1, 2, 4, 5]
                .iter()
                .all(|&at: &usize| text[at].is_ascii_digit());
        if !well_formed {
            return Err(self.cannot_parse("Z07:00"));
        }
        let sign = if text[0] == b'-' { -1 } else { 1 };
        let two = |at: usize| i32::from(text[at] - b'0') * 10 + i32::from(text[at + 1] - b'0');
        let (hours, minutes) = (two(1), two(4));
        self.check("time zone offset hour", hours <= 24)?;
        self.check("time zone offset minute", minutes < 60)?;
        self.rest = &self.rest[6..];
        Ok(sign * (hours * 3600 + minutes * 60))
    }

    fn check(&self, part: &str, within: bool) -> Result<(), TimeError> {
        if within {
            return Ok(());
        }
        Err(self.error(&format!(": {part} out of range")))
    }

    fn cannot_parse(&self, element: &str) -> TimeError {
        let (layout, rest) = (self.layout, quote(self.rest));
        self.error(&format!(
            " as {layout:?}: cannot parse {rest} as {element:?}"
        ))
    }

    fn error(&self, what: &str) -> TimeError {
        TimeError {
            message: format!("parsing time {}{what}", quote(self.text)),
        }
    }
}

/// Quotes a text as errors of Go's `time` package do: every byte beyond printable ASCII as a hexadecimal escape.
fn quote(text: &str) -> String {
    let mut quoted = String::from('"');
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => {
                quoted.push('\\');
                quoted.push(char::from(byte));
            }
            b' '..=0x7f => quoted.push(char::from(byte)),
            other => write!(quoted, "\\x{other:02x}").expect("a string takes all text"),
        }
    }
    quoted.push('"');
    quoted
}
