//! Durations as Go reads them.

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

/// The digits of a fraction that surely fit 63 bits; more make no difference.
const FRACTION_DIGITS_MAX: usize = 18;

/// Reads numbers with units, such as `1h15m30.918s`, and returns their nanoseconds.
///
/// # Errors
///
/// The text is no duration; the message says why, in the words of Go after `time: `.
#[doc(alias = "ParseDuration")]
pub fn parse_duration(text: &str) -> Result<i64, String> {
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
        let entry = UNITS.iter().find(|(name, _)| *name == unit);
        let (_, size) = entry
            .ok_or_else(|| format!("unknown unit {} in duration {}", quote(unit), quote(text)))?;
        let part = amount(whole, fraction, *size);
        let sum = part.and_then(|part| nanoseconds.checked_add(part));
        nanoseconds = sum.ok_or_else(invalid)?;
        rest = after;
    }
    let nanoseconds = i128::from(nanoseconds);
    let signed = if text.starts_with('-') {
        -nanoseconds
    } else {
        nanoseconds
    };
    i64::try_from(signed).map_err(|_| invalid())
}

/// Multiplies a decimal number by the size of its unit; `None` on overflow.
fn amount(whole: &str, fraction: &str, size: u64) -> Option<u64> {
    let whole: u64 = if whole.is_empty() {
        0
    } else {
        whole.parse().ok()?
    };
    let near = fraction.get(..FRACTION_DIGITS_MAX).unwrap_or(fraction);
    let digits: u64 = if near.is_empty() {
        0
    } else {
        near.parse().ok()?
    };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "a part of a unit, with the precision that Go has"
    )]
    let fraction = {
        let scale = near.bytes().fold(1.0, |scale, _| scale * 10.0);
        (digits as f64 * (size as f64 / scale)) as u64
    };
    whole.checked_mul(size)?.checked_add(fraction)
}

/// Quotes a text as Go does in errors of durations: characters beyond ASCII as escaped bytes.
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
    use super::parse_duration;

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
            assert_eq!(parse_duration(text).ok(), nanoseconds, "{text}");
        }
    }
}
