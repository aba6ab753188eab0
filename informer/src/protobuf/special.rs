//! The values whose JSON is not an object of their message's fields.

use jiff::{Timestamp, fmt::temporal::DateTimePrinter};
use serde::de::Error as _;

use super::reader::Reader;

/// The second at which Go's time begins: a time that was never set.
const ZERO_TIME_SECOND: i64 = -62_135_596_800;

/// The digits of a second that a time shows.
#[derive(Clone, Copy, Debug)]
pub(super) enum Precision {
    Seconds,
    Micros,
}

/// The content of a time.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Time {
    seconds: i64,
    nanos: i64,
}

/// The content of a number or a string.
#[derive(Clone, Copy, Debug)]
pub(super) enum IntOrString<'de> {
    Int(i64),
    String(&'de [u8]),
}

// === impl Time ===

impl Time {
    /// Reads a message of seconds and nanoseconds, which was checked; `None` for a time that was never set.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        if bytes.is_empty() {
            return None;
        }
        let [seconds, nanos] = integers(bytes);
        let time = Self { seconds, nanos };
        (seconds != ZERO_TIME_SECOND || nanos != 0).then_some(time)
    }

    /// Returns the time as JSON shows it.
    pub(super) fn print(self, precision: Precision) -> serde_json::Result<String> {
        let (nanos, digits) = match precision {
            Precision::Seconds => (0, 0),
            Precision::Micros => (i32::try_from(self.nanos).unwrap_or_default(), 6),
        };
        let time = Timestamp::new(self.seconds, nanos)
            .map_err(|_| serde_json::Error::custom("a time out of range"))?;
        let printer = DateTimePrinter::new().precision(Some(digits));
        Ok(printer.timestamp_to_string(&time))
    }
}

// === impl IntOrString ===

impl<'de> IntOrString<'de> {
    /// Reads a message that was checked.
    pub(super) fn read(bytes: &'de [u8]) -> Self {
        let mut reader = Reader::new(bytes);
        let (mut is_string, mut number, mut text) = (false, 0, &[][..]);
        while let Ok((field, wire)) = reader.tag() {
            match field {
                1 => is_string = reader.varint() == Ok(1),
                2 => number = narrow(reader.varint().unwrap_or_default()),
                3 => text = reader.block().unwrap_or_default(),
                _ => drop(reader.skip(wire)),
            }
        }
        if is_string {
            Self::String(text)
        } else {
            Self::Int(number)
        }
    }
}

/// Returns the bytes of a message's field `number`, which is a string or bytes; empty where it is not there.
pub(super) fn block_of(bytes: &[u8], number: u32) -> &[u8] {
    let mut reader = Reader::new(bytes);
    let mut found = &[][..];
    while let Ok((field, wire)) = reader.tag() {
        if field == number {
            found = reader.block().unwrap_or_default();
        } else {
            // A message that was checked has nothing that cannot be skipped.
            let _ = reader.skip(wire);
        }
    }
    found
}

/// Returns the integers that are a message's first two fields.
pub(super) fn integers(bytes: &[u8]) -> [i64; 2] {
    let mut reader = Reader::new(bytes);
    let mut found = [0; 2];
    while let Ok((field, wire)) = reader.tag() {
        match field {
            1 => found[0] = wide(reader.varint().unwrap_or_default()),
            2 => found[1] = narrow(reader.varint().unwrap_or_default()),
            _ => drop(reader.skip(wire)),
        }
    }
    found
}

/// Reads an integer of 64 bits.
pub(super) fn wide(bits: u64) -> i64 {
    bits.cast_signed()
}

/// Reads an integer of 32 bits; what is too long is cut, as in Go.
#[expect(
    clippy::cast_possible_truncation,
    reason = "negative numbers are written in 64 bits"
)]
pub(super) fn narrow(bits: u64) -> i64 {
    i64::from((bits as u32).cast_signed())
}
