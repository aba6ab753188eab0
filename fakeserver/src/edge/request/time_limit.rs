//! The time limit of a request: the parameter `timeout`, a duration as Go writes it.

use std::time::Duration;

use super::Query;
use crate::value::status::Status;

/// The time limit of any request that is no watch.
pub(crate) const REQUEST_LIMIT: Duration = Duration::from_mins(1);

/// The units in nanoseconds.
const UNITS: [(&str, f64); 8] = [
    ("ns", 1.0),
    ("us", 1e3),
    ("µs", 1e3),
    ("μs", 1e3),
    ("ms", 1e6),
    ("s", 1e9),
    ("m", 60e9),
    ("h", 3600e9),
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
    let limit = Duration::try_from_secs_f64(nanoseconds / 1e9).unwrap_or_default();
    Ok(if limit.is_zero() {
        REQUEST_LIMIT
    } else {
        limit.min(REQUEST_LIMIT)
    })
}

/// The nanoseconds of `1h15m30.918s`.
fn parse(text: &str) -> Result<f64, String> {
    let invalid = || format!("invalid duration {text:?}");
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let sign = if text.starts_with('-') { -1.0 } else { 1.0 };
    if unsigned == "0" {
        return Ok(0.0);
    }
    let mut rest = unsigned;
    let mut nanoseconds = 0.0;
    while !rest.is_empty() || unsigned.is_empty() {
        let end = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(rest.len());
        let (number, after) = rest.split_at(end);
        // Go takes `1.` and `.5`, as does this.
        let number: f64 = number.parse().map_err(|_| invalid())?;
        let end = after
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .unwrap_or(after.len());
        let (unit, after) = after.split_at(end);
        if unit.is_empty() {
            return Err(format!("missing unit in duration {text:?}"));
        }
        let known = UNITS.iter().find(|(name, _)| *name == unit);
        let (_, size) =
            known.ok_or_else(|| format!("unknown unit {unit:?} in duration {text:?}"))?;
        nanoseconds += number * size;
        rest = after;
    }
    Ok(sign * nanoseconds)
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
            ("99999999999999999h", REQUEST_LIMIT),
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
        ] {
            let expected =
                format!("invalid timeout specified in the request URL - time: {expected}");
            assert_eq!(limit(text), Err(expected), "{text}");
        }
    }
}
