//! The time limit of a request: the parameter `timeout`, a duration as Go writes it.

use std::time::Duration;

use fakeserver_value::status::Status;

use super::Query;

/// The time limit of any request that is no watch.
pub(crate) const REQUEST_LIMIT: Duration = Duration::from_mins(1);

/// The units in nanoseconds.
const UNITS: [(&str, u64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// Returns the time limit of a request with these parameters.
///
/// # Errors
///
/// The parameter is no duration.
pub(crate) fn time_limit(query: &Query) -> Result<Duration, Status> {
    let text = query.get("timeout").unwrap_or_default();
    if text.is_empty() {
        return Ok(REQUEST_LIMIT);
    }
    let nanoseconds = parse(text).map_err(|why| {
        Status::bad_request(format!(
            "invalid timeout specified in the request URL - time: {why}"
        ))
    })?;
    // None, and one that is longer than allowed, leave the limit as it is.
    let limit = u64::try_from(nanoseconds).map_or(Duration::ZERO, Duration::from_nanos);
    Ok(if limit.is_zero() {
        REQUEST_LIMIT
    } else {
        limit.min(REQUEST_LIMIT)
    })
}

/// The nanoseconds of `1h15m30.918s`.
fn parse(text: &str) -> Result<i64, String> {
    let invalid = || format!("invalid duration {}", quote(text));
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if unsigned == "0" {
        return Ok(0);
    }
    let mut rest = unsigned;
    let mut nanoseconds: u64 = 0;
    while !rest.is_empty() || unsigned.is_empty() {
        let end = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(rest.len());
        let (number, after) = rest.split_at(end);
        // Go takes `1.` and `.5`, as does this.
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
            return Err(invalid());
        }
        let end = after
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .unwrap_or(after.len());
        let (unit, after) = after.split_at(end);
        if unit.is_empty() {
            return Err(format!("missing unit in duration {}", quote(text)));
        }
        let known = UNITS.iter().find(|(name, _)| *name == unit);
        let (_, size) = known
            .ok_or_else(|| format!("unknown unit {} in duration {}", quote(unit), quote(text)))?;
        let part = amount(whole, fraction, *size);
        let sum = part.and_then(|part| nanoseconds.checked_add(part));
        nanoseconds = sum.ok_or_else(invalid)?;
        rest = after;
    }
    let sign = if text.starts_with('-') { -1 } else { 1 };
    let nanoseconds = i64::try_from(nanoseconds).map_err(|_| invalid())?;
    Ok(sign * nanoseconds)
}

/// Returns so many units of a size, unless they are too many.
fn amount(whole: &str, fraction: &str, size: u64) -> Option<u64> {
    let whole: u64 = if whole.is_empty() {
        0
    } else {
        whole.parse().ok()?
    };
    let fraction: f64 = format!("0.{fraction}").parse().unwrap_or_default();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "less than one unit, which is exact"
    )]
    let fraction = (fraction * size as f64) as u64;
    whole.checked_mul(size)?.checked_add(fraction)
}

/// Quotes a text as Go does in errors of durations: what is not ASCII, by its bytes.
fn quote(text: &str) -> String {
    use std::fmt::Write;
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                let _ = write!(quoted, "\\{c}");
            }
            ' '..='~' => quoted.push(c),
            c => {
                let mut bytes = [0; 4];
                for byte in c.encode_utf8(&mut bytes).bytes() {
                    let _ = write!(quoted, "\\x{byte:02x}");
                }
            }
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(text: &str) -> Result<Duration, String> {
        let query = Query::parse(Some(&format!("timeout={text}")));
        time_limit(&query).map_err(|status| status.message)
    }

    #[test]
    fn a_limit_is_a_duration_as_go_writes_it_and_never_more_than_a_minute() {
        for (text, expected) in [
            ("1s", Duration::from_secs(1)),
            ("1.5s", Duration::from_millis(1_500)),
            (".5s", Duration::from_millis(500)),
            ("%2B250ms", Duration::from_millis(250)),
            ("1ns", Duration::from_nanos(1)),
            ("1s20ms", Duration::from_millis(1_020)),
            ("", REQUEST_LIMIT),
            ("0", REQUEST_LIMIT),
            ("0s", REQUEST_LIMIT),
            ("-5s", REQUEST_LIMIT),
            ("1h", REQUEST_LIMIT),
            ("9223372036854775807ns", REQUEST_LIMIT),
        ] {
            assert_eq!(limit(text), Ok(expected), "{text}");
        }
        assert_eq!(time_limit(&Query::parse(None)), Ok(REQUEST_LIMIT));
    }

    #[test]
    fn what_is_no_duration_is_refused_in_the_words_of_go() {
        for (text, expected) in [
            ("foo", "invalid duration \"foo\""),
            ("5", "missing unit in duration \"5\""),
            ("5x", "unknown unit \"x\" in duration \"5x\""),
            ("-", "invalid duration \"-\""),
            ("1..2s", "invalid duration \"1..2s\""),
            ("99999999999h", "invalid duration \"99999999999h\""),
            (
                "9223372036854775808ns",
                "invalid duration \"9223372036854775808ns\"",
            ),
            ("%C3%A9", "invalid duration \"\\xc3\\xa9\""),
        ] {
            let expected =
                format!("invalid timeout specified in the request URL - time: {expected}");
            assert_eq!(limit(text), Err(expected), "{text}");
        }
    }
}
