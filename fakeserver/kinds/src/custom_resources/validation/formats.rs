//! The formats of strings that schemas may name.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    sync::LazyLock,
};

use fakeserver_value::{
    go_url::GoUrl,
    string_formats::{is_base64, is_date, is_date_time, is_uuid},
};
use regex::Regex;

/// The formats of texts, without dashes.
const TEXTS: [&str; 26] = [
    "bsonobjectid",
    "byte",
    "cidr",
    "creditcard",
    "date",
    "datetime",
    "duration",
    "email",
    "hexcolor",
    "hostname",
    "ipv4",
    "ipv6",
    "isbn",
    "isbn10",
    "isbn13",
    "k8slongname",
    "k8sshortname",
    "mac",
    "password",
    "rgbcolor",
    "ssn",
    "uri",
    "uuid",
    "uuid3",
    "uuid4",
    "uuid5",
];
/// Units of durations with the words that name them, as Scala writes them; the last word may be longer.
const UNITS: [&[&str]; 8] = [
    &["ns", "nano"],
    &["us", "µs", "micro"],
    &["ms", "milli"],
    &["s", "sec"],
    &["m", "min"],
    &["h", "hr", "hour"],
    &["d", "day"],
    &["w", "wk", "week"],
];

static HOSTNAME: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"^([a-zA-Z0-9\p{S}\p{L}]((-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?)|([a-zA-Z0-9\p{S}\p{L}](([a-zA-Z0-9-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?)(\.)){1,}([a-zA-Z\p{L}]){2,63})$",
    )
    .ok()
});
static CREDIT_CARD: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11})$",
    )
    .ok()
});
static RGB_COLOR: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let part = r"\s*(0|[1-9][0-9]?|1[0-9][0-9]?|2[0-4][0-9]|25[0-5])\s*";
    Regex::new(&format!(r"^rgb\({part},{part},{part}\)$")).ok()
});
static AMOUNTS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"[0-9]+\s*([A-Za-zµ]+)").ok());

/// Returns whether a format of a type is one that custom resources may have; others are not checked.
pub(in crate::custom_resources) fn is_recognized(ty: &str, format: &str) -> bool {
    match ty {
        "" | "string" => is_known(format),
        "integer" => matches!(format, "int32" | "int64"),
        "number" => matches!(format, "float" | "double"),
        _ => false,
    }
}

/// Returns whether a format is one of texts.
pub(super) fn is_known(format: &str) -> bool {
    TEXTS.contains(&format.replace('-', "").as_str())
}

/// Returns whether `text` is of `format`.
pub(super) fn is_format(format: &str, text: &str) -> bool {
    match format.replace('-', "").as_str() {
        "bsonobjectid" => text.len() == 24 && is_hex(text),
        "byte" => is_base64(text),
        "cidr" => is_cidr(text),
        "creditcard" => is_credit_card(text),
        "date" => is_date(text),
        "datetime" => is_date_time(text),
        "duration" => is_duration(text),
        "email" => is_email(text),
        "hexcolor" => {
            let digits = text.strip_prefix('#').unwrap_or(text);
            matches!(digits.len(), 3 | 6) && is_hex(digits)
        }
        "hostname" => is_hostname(text),
        "ipv4" => text.contains('.') && parse_ip(text).is_some(),
        "ipv6" => text.contains(':') && text.parse::<Ipv6Addr>().is_ok(),
        "isbn" => is_isbn10(text) || is_isbn13(text),
        "isbn10" => is_isbn10(text),
        "isbn13" => is_isbn13(text),
        "k8slongname" => text.len() <= 253 && text.split('.').all(is_lower_label),
        "k8sshortname" => text.len() <= 63 && is_lower_label(text),
        "mac" => is_mac(text),
        "rgbcolor" => RGB_COLOR.as_ref().is_none_or(|form| form.is_match(text)),
        "ssn" => is_social_security_number(text),
        "uri" => GoUrl::parse_request(text).is_ok(),
        "uuid" => is_uuid(text, None),
        "uuid3" => is_uuid(text, Some('3')),
        "uuid4" => is_uuid(text, Some('4')),
        "uuid5" => is_uuid(text, Some('5')),
        _ => true,
    }
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn is_lower_label(label: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !label.is_empty()
        && !label.starts_with('-')
        && !label.ends_with('-')
        && label.bytes().all(is_inner)
}

/// Reads an address, in which numbers may begin with zeros.
fn parse_ip(text: &str) -> Option<IpAddr> {
    if text.contains(':') {
        return text.parse().ok().map(IpAddr::V6);
    }
    let parts: Option<Vec<u8>> = text
        .split('.')
        .map(|part| {
            let digits = part.trim_start_matches('0');
            let is_number = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
            is_number.then_some(())?;
            if digits.is_empty() {
                Some(0)
            } else {
                digits.parse().ok()
            }
        })
        .collect();
    let parts: [u8; 4] = parts?.try_into().ok()?;
    Some(IpAddr::V4(Ipv4Addr::from(parts)))
}

fn is_cidr(text: &str) -> bool {
    let Some((address, bits)) = text.split_once('/') else {
        return false;
    };
    let max = match parse_ip(address) {
        Some(IpAddr::V4(_)) => 32,
        Some(IpAddr::V6(_)) => 128,
        None => return false,
    };
    let is_number = !bits.is_empty() && bits.bytes().all(|byte| byte.is_ascii_digit());
    is_number && bits.parse::<u32>().is_ok_and(|bits| bits <= max)
}

/// Returns whether `text` is an address of 6, 8 or 20 bytes: by twos with colons or dashes, or by fours with dots.
fn is_mac(text: &str) -> bool {
    let (separator, width) = match (text.as_bytes().get(2), text.as_bytes().get(4)) {
        (Some(b':'), _) => (':', 2),
        (Some(b'-'), _) => ('-', 2),
        (_, Some(b'.')) => ('.', 4),
        _ => return false,
    };
    let parts: Vec<&str> = text.split(separator).collect();
    let is_part = |part: &&str| part.len() == width && is_hex(part);
    parts.iter().all(is_part) && matches!(parts.len() * width / 2, 6 | 8 | 20)
}

/// Returns whether `text` is a duration as Go writes it, or numbers with words as Scala does.
fn is_duration(text: &str) -> bool {
    if is_go_duration(text) {
        return true;
    }
    let Some(amounts) = AMOUNTS.as_ref() else {
        return true;
    };
    let mut units = amounts
        .captures_iter(text)
        .filter_map(|found| found.get(1))
        .map(|unit| unit.as_str().to_lowercase());
    units.any(|unit| {
        UNITS
            .iter()
            .filter_map(|words| words.split_last())
            .any(|(last, words)| unit.starts_with(last) || words.contains(&unit.as_str()))
    })
}

/// Returns whether `text` is a duration as Go writes it: numbers with units, such as `1h2m3.5s`.
fn is_go_duration(text: &str) -> bool {
    let text = text.strip_prefix(['+', '-']).unwrap_or(text);
    if text == "0" {
        return true;
    }
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest
            .bytes()
            .take_while(|byte| byte.is_ascii_digit() || *byte == b'.')
            .count();
        let (number, unit) = rest.split_at(digits);
        if number.parse::<f64>().is_err() {
            return false;
        }
        let units = ["ns", "us", "µs", "μs", "ms", "s", "m", "h"];
        let Some(unit) = units.into_iter().find(|own| {
            unit.strip_prefix(own)
                .is_some_and(|after| !after.starts_with(char::is_alphabetic))
        }) else {
            return false;
        };
        rest = &rest[digits + unit.len()..];
    }
    !text.is_empty()
}

/// Returns whether `text` is an address, which may have a name before it: `a@b`, `Name <a@b>`.
fn is_email(text: &str) -> bool {
    let text = text.trim();
    let address = match text.split_once('<') {
        Some((_, rest)) => match rest.strip_suffix('>') {
            Some(address) => address,
            None => return false,
        },
        None => text,
    };
    let Some((local, domain)) = address.rsplit_once('@') else {
        return false;
    };
    let is_atom = |atom: &str| {
        let is_special =
            |letter: char| letter.is_ascii_control() || " ()<>[]:;@\\,\"".contains(letter);
        !atom.is_empty() && !atom.contains(is_special)
    };
    let is_quoted = local.len() > 2 && local.starts_with('"') && local.ends_with('"');
    let is_literal = domain.starts_with('[') && domain.ends_with(']');
    (is_quoted || local.split('.').all(is_atom)) && (is_literal || domain.split('.').all(is_atom))
}

fn is_hostname(text: &str) -> bool {
    HOSTNAME.as_ref().is_none_or(|form| form.is_match(text))
        && text.len() <= 255
        && text.split('.').all(|label| label.len() <= 63)
}

fn is_credit_card(text: &str) -> bool {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let has_form = CREDIT_CARD
        .as_ref()
        .is_none_or(|form| form.is_match(&digits));
    let sum: u32 = digits
        .bytes()
        .rev()
        .map(|digit| u32::from(digit - b'0'))
        .enumerate()
        .map(|(place, digit)| match digit * 2 {
            _ if place % 2 == 0 => digit,
            double if double >= 10 => double % 10 + 1,
            double => double,
        })
        .sum();
    has_form && sum.is_multiple_of(10)
}

fn is_social_security_number(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() == 11
        && bytes.iter().enumerate().all(|(place, byte)| match place {
            3 | 6 => matches!(byte, b'-' | b' '),
            _ => byte.is_ascii_digit(),
        })
}

fn is_isbn10(text: &str) -> bool {
    let digits = isbn_digits(text);
    let value = |(place, digit): (u32, &u8)| match digit {
        b'X' if place == 9 => Some(100),
        digit if digit.is_ascii_digit() => Some((place + 1) * u32::from(digit - b'0')),
        _ => None,
    };
    let sum: Option<u32> = (0..).zip(&digits).map(value).sum();
    digits.len() == 10 && sum.is_some_and(|sum| sum.is_multiple_of(11))
}

fn is_isbn13(text: &str) -> bool {
    let digits = isbn_digits(text);
    let value = |(place, digit): (usize, &u8)| {
        let factor = if place % 2 == 0 { 1 } else { 3 };
        digit
            .is_ascii_digit()
            .then(|| factor * u32::from(digit - b'0'))
    };
    let sum: Option<u32> = digits.iter().enumerate().map(value).sum();
    digits.len() == 13 && sum.is_some_and(|sum| sum.is_multiple_of(10))
}

fn isbn_digits(text: &str) -> Vec<u8> {
    let is_kept = |byte: &u8| !byte.is_ascii_whitespace() && *byte != b'-';
    text.bytes().filter(is_kept).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_fit_as_a_real_server_has_them() {
        for (format, fits, does_not) in [
            ("uri", "http://x", "a.example.com"),
            ("uri", "/abs/../path", "with space"),
            ("uri", "foo:bar", ""),
            ("byte", "AAEC", "AAE"),
            ("byte", "AA==", ""),
            ("date-time", "2026-01-01T00:00:00Z", "2026-01-01"),
            ("duration", "1h2m", "abc"),
            ("duration", "2 days", "5 x"),
            ("ipv4", "1.2.3.4", "::1"),
            ("mac", "01:23:45:67:89:ab", "0123"),
            ("uuid", "12345678-1234-1234-1234-123456789012", "a..b"),
            ("email", "a@b", "a"),
            ("isbn10", "0321751043", "0321751044"),
            ("creditcard", "4111111111111111", "4111111111111112"),
        ] {
            assert!(is_format(format, fits), "{format} {fits}");
            assert!(!is_format(format, does_not), "{format} {does_not}");
        }
        assert!(!is_known("bogus"));
    }
}
