//! Durations in nanoseconds, as Go reads and CEL prints them.

/// Units with their nanoseconds.
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

/// Digits of a fraction that surely fit 63 bits; more make no difference.
const FRACTION_DIGITS_MAX: usize = 18;

/// Reads numbers with units, such as `-1h30.5m`.
#[doc(alias = "ParseDuration")]
pub(super) fn parse_duration(text: &str) -> Option<i64> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if unsigned == "0" {
        return Some(0);
    }
    if unsigned.is_empty() {
        return None;
    }
    let (mut rest, mut sum) = (unsigned, 0_i128);
    while !rest.is_empty() {
        let (part, after) = part(rest)?;
        sum += i128::from(part);
        rest = after;
    }
    i64::try_from(if text.starts_with('-') { -sum } else { sum }).ok()
}

/// Reads a number with its unit. Returns its nanoseconds, and what follows.
fn part(text: &str) -> Option<(u64, &str)> {
    let (whole, rest) = digits(text);
    let (fraction, rest) = rest.strip_prefix('.').map_or(("", rest), digits);
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let end = rest.find(|letter: char| letter == '.' || letter.is_ascii_digit());
    let (unit, rest) = rest.split_at(end.unwrap_or(rest.len()));
    let (_, unit) = UNITS.iter().find(|(name, _)| *name == unit)?;
    let number = |digits: &str| {
        digits.bytes().try_fold(0_u64, |number, digit| {
            number.checked_mul(10)?.checked_add(u64::from(digit - b'0'))
        })
    };
    let near = fraction.get(..FRACTION_DIGITS_MAX).unwrap_or(fraction);
    let whole = number(whole)?;
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a part of a unit, with the precision that Go has"
    )]
    let fraction = {
        let scale = near.bytes().fold(1.0, |scale, _| scale * 10.0);
        (number(near)? as f64 * (*unit as f64 / scale)) as u64
    };
    Some((whole.checked_mul(*unit)?.checked_add(fraction)?, rest))
}

fn digits(text: &str) -> (&str, &str) {
    let end = text.find(|letter: char| !letter.is_ascii_digit());
    text.split_at(end.unwrap_or(text.len()))
}

/// Prints a duration in seconds, with the precision of a floating-point number.
pub(super) fn print_duration(nanoseconds: i64) -> String {
    let (whole, rest) = (nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000);
    #[expect(clippy::cast_precision_loss, reason = "Go loses the same digits")]
    let seconds = whole as f64 + rest as f64 / 1e9;
    format!("{seconds}s")
}

#[cfg(test)]
mod tests {
    use super::{parse_duration, print_duration};

    #[test]
    fn durations_are_read_as_go_reads_them() {
        for (text, nanoseconds) in [
            ("0", Some(0)),
            ("-0", Some(0)),
            ("0s", Some(0)),
            ("90s", Some(90_000_000_000)),
            ("1h2m3.5s", Some(3_723_500_000_000)),
            ("-1.5h", Some(-5_400_000_000_000)),
            ("+5ms", Some(5_000_000)),
            ("1us1µs1μs1ns", Some(3_001)),
            (".5s", Some(500_000_000)),
            ("5.s", Some(5_000_000_000)),
            ("0.0000000019s", Some(1)),
            ("9223372036854775807ns", Some(i64::MAX)),
            ("9223372036854775808ns", None),
            ("-9223372036854775808ns", Some(i64::MIN)),
            ("2562048h", None),
            ("", None),
            ("-", None),
            ("1", None),
            ("s", None),
            (".s", None),
            ("1d", None),
            ("1s ", None),
            ("--1s", None),
            ("1e3s", None),
        ] {
            assert_eq!(parse_duration(text), nanoseconds, "{text}");
        }
    }

    #[test]
    fn durations_are_printed_in_seconds() {
        for (nanoseconds, text) in [
            (0, "0s"),
            (1, "0.000000001s"),
            (-500_000_000, "-0.5s"),
            (3_661_500_000_000, "3661.5s"),
            (i64::MIN, "-9223372036.854776s"),
        ] {
            assert_eq!(print_duration(nanoseconds), text);
        }
    }
}
