//! Tags around items: those that are dropped, those that say how bytes become text, and those of times.

use jiff::{Timestamp, tz::TimeZone};

use super::{
    error::CborError,
    item::{Item, negated},
};
use crate::schema::{Precision, encode_base64, parse_time};

const TEXT_TIME: u64 = 0;
const EPOCH_TIME: u64 = 1;
const BASE64_URL: u64 = 21;
pub(super) const BASE64: u64 = 22;
const BASE16: u64 = 23;
pub(super) const SELF_DESCRIBED: u64 = 55_799;

/// The text that the byte strings in a tagged item stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExpectedEncoding {
    Base64Url,
    Base64,
    Base16,
}

/// Removes the tags around an item, and returns the encoding that the innermost of them asks for.
pub(super) fn untagged<'i, 'a>(
    item: &'i Item<'a>,
    mut later: Option<ExpectedEncoding>,
) -> Result<(&'i Item<'a>, Option<ExpectedEncoding>), CborError> {
    check_tags(item)?;
    let mut item = item;
    while let Item::Tag(number, content) = item {
        later = ExpectedEncoding::of(*number).or(later);
        item = content;
    }
    Ok((item, later))
}

/// Removes the tags around an item that is of no type. A time keeps its tag, and everything within.
pub(super) fn untagged_to_time<'i, 'a>(
    item: &'i Item<'a>,
    mut later: Option<ExpectedEncoding>,
) -> Result<(&'i Item<'a>, Option<ExpectedEncoding>), CborError> {
    check_tags(item)?;
    let mut item = item;
    while let Item::Tag(number, content) = item {
        if matches!(*number, TEXT_TIME | EPOCH_TIME) {
            break;
        }
        later = ExpectedEncoding::of(*number).or(later);
        item = content;
    }
    Ok((item, later))
}

/// Removes the tags that only say that it is CBOR.
pub(super) fn described<'i, 'a>(mut item: &'i Item<'a>) -> Result<&'i Item<'a>, CborError> {
    while let Item::Tag(SELF_DESCRIBED, content) = item {
        item = content;
    }
    check_tags(item)?;
    Ok(item)
}

/// Refuses tags of times around other things.
fn check_tags(mut item: &Item<'_>) -> Result<(), CborError> {
    while let Item::Tag(number, content) = item {
        let expected = match (*number, &**content) {
            (TEXT_TIME, Item::Text(_))
            | (EPOCH_TIME, Item::Positive(_) | Item::Negative(_) | Item::Float(_)) => None,
            (TEXT_TIME, _) => Some("text string"),
            (EPOCH_TIME, _) => Some("integer or floating-point number"),
            _ => None,
        };
        if let Some(expected) = expected {
            return Err(CborError::unacceptable(format!(
                "tag number {number} must be followed by {expected}, got {}",
                content.kind()
            )));
        }
        item = content;
    }
    Ok(())
}

/// Returns the text of a time that has a tag.
pub(super) fn time(content: &Item<'_>) -> Result<String, CborError> {
    match content {
        Item::Text(Some(text)) => match parse_time(text, Precision::Seconds) {
            Ok(_) => Ok(shortened(text)),
            Err(error) => Err(CborError::unacceptable(format!(
                "cannot set {text} for time.Time: {error}"
            ))),
        },
        Item::Positive(seconds) => match i64::try_from(*seconds) {
            Ok(seconds) => since_epoch(seconds, 0),
            Err(_) => Err(too_late(content, &seconds.to_string())),
        },
        Item::Negative(number) => match i64::try_from(negated(*number)) {
            Ok(seconds) => since_epoch(seconds, 0),
            Err(_) => Err(too_late(content, &negated(*number).to_string())),
        },
        Item::Float(seconds) => {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "numbers that no time has are refused"
            )]
            let (whole, nanos) = (seconds.trunc() as i64, (seconds.fract() * 1e9) as i32);
            since_epoch(whole, nanos)
        }
        _ => Err(CborError::not_text()),
    }
}

fn too_late(item: &Item<'_>, number: &str) -> CborError {
    CborError::mismatch_because(item, "time.Time", format!("{number} overflows Go's int64"))
}

/// Prints a time in UTC, with as many digits of a second as it has.
fn since_epoch(seconds: i64, nanos: i32) -> Result<String, CborError> {
    let time = Timestamp::new(seconds, 0)
        .and_then(|time| time.checked_add(jiff::SignedDuration::new(0, nanos)));
    let time = time.ok().map(|time| time.to_zoned(TimeZone::UTC));
    match time.filter(|time| time.year() >= 0) {
        Some(time) => Ok(shortened(
            &time.strftime("%Y-%m-%dT%H:%M:%S.%9fZ").to_string(),
        )),
        None => Err(CborError::unacceptable(
            "decoded time cannot be represented in RFC3339 format with sub-second precision: Time.MarshalText: year \
             outside of range [0,9999]",
        )),
    }
}

/// Prints a valid time without zeros at the end of its fraction, and UTC as `Z`.
fn shortened(text: &str) -> String {
    const WHOLE: usize = "2006-01-02T15:04:05".len();
    const DIGITS_MAX: usize = 9;
    let (whole, rest) = text.split_at(WHOLE);
    let zone = rest.find(['Z', '+', '-']).unwrap_or(rest.len());
    let (fraction, zone) = rest.split_at(zone);
    let digits = fraction.get(1..).unwrap_or_default();
    let digits = digits.get(..DIGITS_MAX).unwrap_or(digits);
    let digits = digits.trim_end_matches('0');
    let point = if digits.is_empty() { "" } else { "." };
    let zone = match zone {
        "+00:00" | "-00:00" => "Z",
        zone => zone,
    };
    format!("{whole}{point}{digits}{zone}")
}

// === impl ExpectedEncoding ===

impl ExpectedEncoding {
    fn of(number: u64) -> Option<Self> {
        match number {
            BASE64_URL => Some(Self::Base64Url),
            BASE64 => Some(Self::Base64),
            BASE16 => Some(Self::Base16),
            _ => None,
        }
    }

    /// Returns the text that bytes stand for.
    pub(super) fn encode(self, bytes: &[u8]) -> String {
        match self {
            Self::Base64 => encode_base64(bytes),
            Self::Base64Url => {
                let text = encode_base64(bytes).replace('+', "-").replace('/', "_");
                text.trim_end_matches('=').to_owned()
            }
            Self::Base16 => {
                use std::fmt::Write;
                bytes.iter().fold(String::new(), |mut hex, byte| {
                    let _ = write!(hex, "{byte:02x}");
                    hex
                })
            }
        }
    }
}
