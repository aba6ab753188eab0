//! The formats of strings that schemas may name.

use std::net::{Ipv4Addr, Ipv6Addr};

use jiff::{Timestamp, civil::Date};
use uuid::Uuid;

use crate::value::schema::decode_base64;

/// Returns whether `text` is of `format`; a format that is not checked fits everything.
pub(super) fn is_format(format: &str, text: &str) -> bool {
    match format {
        "date-time" | "datetime" => text.parse::<Timestamp>().is_ok(),
        "date" => text.parse::<Date>().is_ok(),
        "byte" => decode_base64(text).is_ok(),
        "uuid" | "uuid3" | "uuid4" | "uuid5" => Uuid::parse_str(text).is_ok(),
        "ipv4" => text.parse::<Ipv4Addr>().is_ok(),
        "ipv6" => text.parse::<Ipv6Addr>().is_ok(),
        "cidr" => is_cidr(text),
        "mac" => is_mac(text),
        "uri" => text.parse::<http::Uri>().is_ok(),
        "duration" => is_duration(text),
        "email" => text
            .split_once('@')
            .is_some_and(|(name, host)| !name.is_empty() && !host.is_empty()),
        "hostname" => !text.is_empty() && text.split('.').all(is_host_label),
        _ => true,
    }
}

fn is_cidr(text: &str) -> bool {
    let Some((address, bits)) = text.split_once('/') else {
        return false;
    };
    let Ok(bits) = bits.parse::<u8>() else {
        return false;
    };
    (address.parse::<Ipv4Addr>().is_ok() && bits <= 32)
        || (address.parse::<Ipv6Addr>().is_ok() && bits <= 128)
}

fn is_mac(text: &str) -> bool {
    let parts: Vec<&str> = text.split([':', '-']).collect();
    parts.len() == 6
        && parts
            .iter()
            .all(|part| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

fn is_host_label(label: &str) -> bool {
    let is_edge = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphanumeric);
    let bytes = label.as_bytes();
    bytes.len() <= 63
        && is_edge(bytes.first())
        && is_edge(bytes.last())
        && bytes
            .iter()
            .all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-')
}

/// As Go writes durations: numbers with units, such as `1h2m3.5s`.
fn is_duration(text: &str) -> bool {
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
        let units = ["ns", "us", "µs", "ms", "s", "m", "h"];
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
