//! The time limit of a request: the parameter `timeout`, a duration as Go writes it.

use std::time::Duration;

use fakeserver_value::{go_duration::parse_duration, status::Status};

use super::Query;

/// The time limit of any request that is no watch.
pub(crate) const REQUEST_LIMIT: Duration = Duration::from_mins(1);

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
    let nanoseconds = parse_duration(text).map_err(|why| {
        Status::bad_request(format!(
            "invalid timeout specified in the request URL - time: {why}"
        ))
    })?;
    // A timeout of zero means the default, and one above the maximum is cut to it.
    let limit = u64::try_from(nanoseconds).map_or(Duration::ZERO, Duration::from_nanos);
    Ok(if limit.is_zero() {
        REQUEST_LIMIT
    } else {
        limit.min(REQUEST_LIMIT)
    })
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
    fn invalid_durations_are_rejected_in_gos_words() {
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
