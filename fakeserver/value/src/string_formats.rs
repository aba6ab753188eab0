//! Formats of strings that both schemas and expressions name.

use jiff::civil::Date;

/// Returns whether `text` is base64, with padding.
pub fn is_base64(text: &str) -> bool {
    let digits = text.trim_end_matches('=');
    let padding = text.len() - digits.len();
    !digits.is_empty()
        && text.len().is_multiple_of(4)
        && padding <= 2
        && digits
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'))
}

/// Returns whether `text` is a date.
pub fn is_date(text: &str) -> bool {
    text.len() == 10 && text.parse::<Date>().is_ok()
}

/// Returns whether `text` is a date and a time of the day with its zone.
pub fn is_date_time(text: &str) -> bool {
    let text = text.to_lowercase();
    let mut parts = text.split('t');
    let (Some(date), Some(time)) = (parts.next(), parts.next()) else {
        return false;
    };
    is_date(date) && is_time(time)
}

/// Returns whether `text` is a time of the day with its zone: `15:04:05.123z`, `15:04:05+02:00`.
fn is_time(text: &str) -> bool {
    let number = |range: std::ops::Range<usize>| -> Option<u8> {
        let digits = text.get(range)?;
        let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| digits.parse().ok()).flatten()
    };
    let (Some(hours), Some(minutes), Some(seconds)) = (number(0..2), number(3..5), number(6..8))
    else {
        return false;
    };
    let has_colons = text.get(2..3) == Some(":") && text.get(5..6) == Some(":");
    let is_in_range = hours <= 23 && minutes <= 59 && seconds <= 59;
    has_colons && is_in_range && is_fraction_and_zone(&text[8..])
}

fn is_fraction_and_zone(text: &str) -> bool {
    let is_zone = |zone: &str| {
        let bytes = zone.as_bytes();
        zone == "z"
            || (bytes.len() == 6
                && matches!(bytes[0], b'+' | b'-')
                && bytes[3] == b':'
                && [1, 2, 4, 5].iter().all(|at| bytes[*at].is_ascii_digit()))
    };
    if is_zone(text) {
        return true;
    }
    // Upstream's pattern takes any character for the dot.
    let mut letters = text.chars();
    letters.next();
    let rest = letters.as_str();
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    digits > 0 && is_zone(&rest[digits..])
}

/// Returns whether `text` is a UUID, with or without dashes, of a version.
pub fn is_uuid(text: &str, version: Option<char>) -> bool {
    let mut digits = String::with_capacity(32);
    for letter in text.chars() {
        match letter {
            '-' if matches!(digits.len(), 8 | 12 | 16 | 20) => {}
            digit if digit.is_ascii_hexdigit() => digits.push(digit.to_ascii_lowercase()),
            _ => return false,
        }
    }
    let is_of_version = version.is_none_or(|version| digits[12..].starts_with(version));
    let has_variant = match version {
        Some('4' | '5') => digits[16..].starts_with(['8', '9', 'a', 'b']),
        _ => true,
    };
    digits.len() == 32 && !text.contains("--") && is_of_version && has_variant
}

#[cfg(test)]
mod tests {
    use super::{is_base64, is_date, is_date_time, is_uuid};

    #[track_caller]
    fn check(is_format: fn(&str) -> bool, fits: &[&str], others: &[&str]) {
        for text in fits {
            assert!(is_format(text), "{text}");
        }
        for text in others {
            assert!(!is_format(text), "{text}");
        }
    }

    #[test]
    fn texts_have_formats() {
        check(
            is_base64,
            &["AAEC", "AA==", "AAE="],
            &["", "A", "AAE", "A===", "AA-_"],
        );
        check(
            is_date,
            &["2026-01-01", "2024-02-29"],
            &["", "2026-1-1", "2026-02-29", "20260101"],
        );
        check(
            is_date_time,
            &[
                "2026-01-01T00:00:00Z",
                "2026-01-01t23:59:59.123z",
                "2026-01-01T00:00:00+99:00",
            ],
            &[
                "2026-01-01",
                "2026-01-01T00:00:00",
                "2026-01-01T3:00:00Z",
                "2026-01-01T24:00:00Z",
            ],
        );
        check(
            |text| is_uuid(text, None),
            &[
                "12345678-1234-1234-1234-12345678abCD",
                "123456781234123412341234567890ab",
            ],
            &[
                "",
                "12345678-1234-1234-1234-12345678abc",
                "1234567-81234-1234-1234-12345678abcd",
            ],
        );
    }
}
