//! Errors of texts that are no addresses, networks, URLs, quantities or versions, in a real server's words.

use std::net::Ipv6Addr;

use fakeserver_value::schema::Quantity;

const CONVERSION: &str = "parse error during conversion from string";

/// Returns the error of a text that a function cannot read, if it is one of them.
pub(super) fn problem(function: &str, text: &str) -> Option<String> {
    match function {
        "ip" => match address_problem(text) {
            Some(why) => Some(format!("IP Address {text:?} {CONVERSION}: {why}")),
            None if text.contains('%') => Some(format!(
                "IP address {text:?} with zone value is not allowed"
            )),
            None => mapped_problem(text, text),
        },
        "cidr" => {
            let why = match network_problem(text) {
                Some(why) => {
                    format!("network address {CONVERSION}: netip.ParsePrefix({text:?}): {why}")
                }
                None => mapped_problem(text, text.split('/').next().unwrap_or_default())?,
            };
            Some(format!("network address {CONVERSION}: {why}"))
        }
        "url" => {
            let why = if text.is_empty() {
                "empty url"
            } else {
                "invalid URI for request"
            };
            Some(format!("URL {CONVERSION}: parse {text:?}: {why}"))
        }
        "quantity" => Some(text.parse::<Quantity>().err()?.to_string()),
        "semver" => Some(version_problem(text)),
        _ => None,
    }
}

/// Returns the error of an address of four numbers within one of eight.
fn mapped_problem(text: &str, address: &str) -> Option<String> {
    let address = address.parse::<Ipv6Addr>().ok()?;
    address.to_ipv4_mapped()?;
    Some(format!("IPv4-mapped IPv6 address {text:?} is not allowed"))
}

fn address_problem(text: &str) -> Option<String> {
    let why = match text.find(['.', ':', '%']).map(|at| text.as_bytes()[at]) {
        Some(b'.') => four_problem(text)?,
        Some(b':') => {
            let address = text.split('%').next().unwrap_or_default();
            if address.parse::<Ipv6Addr>().is_ok() {
                return None;
            }
            "unable to parse IP".to_owned()
        }
        Some(_) => "missing IPv6 address".to_owned(),
        None => "unable to parse IP".to_owned(),
    };
    Some(format!("ParseAddr({text:?}): {why}"))
}

/// Returns what is wrong with an address of four numbers.
fn four_problem(text: &str) -> Option<String> {
    let (mut dots, mut number, mut before) = (0, None::<u16>, '.');
    for (at, letter) in text.char_indices() {
        let rest = &text[at..];
        if let Some(digit) = letter.to_digit(10) {
            if number == Some(0) {
                return Some("IPv4 field has octet with leading zero".to_owned());
            }
            let next = u32::from(number.unwrap_or(0)) * 10 + digit;
            let Ok(next) = u8::try_from(next) else {
                return Some("IPv4 field has value >255".to_owned());
            };
            number = Some(next.into());
        } else if letter == '.' {
            if before == '.' || rest.len() == 1 {
                return Some(format!(
                    "IPv4 field must have at least one digit (at {rest:?})"
                ));
            }
            if dots == 3 {
                return Some("IPv4 address too long".to_owned());
            }
            (dots, number) = (dots + 1, None);
        } else {
            return Some(format!("unexpected character (at {rest:?})"));
        }
        before = letter;
    }
    (dots < 3).then(|| "IPv4 address too short".to_owned())
}

fn network_problem(text: &str) -> Option<String> {
    let Some((address, bits)) = text.rsplit_once('/') else {
        return Some("no '/'".to_owned());
    };
    if let Some(why) = address_problem(address) {
        return Some(why);
    }
    if address.contains('%') {
        return Some("IPv6 zones cannot be present in a prefix".to_owned());
    }
    let is_number = !bits.is_empty() && bits.bytes().all(|digit| digit.is_ascii_digit());
    let has_zero = bits.len() > 1 && bits.starts_with('0');
    if !is_number || has_zero {
        return Some(format!("bad bits after slash: {bits:?}"));
    }
    let max = if address.contains(':') { 128 } else { 32 };
    let fits = bits.parse::<u32>().is_ok_and(|bits| bits <= max);
    (!fits).then(|| "prefix length out of range".to_owned())
}

fn version_problem(text: &str) -> String {
    let mut numbers = text.splitn(3, '.');
    let (Some(major), Some(minor), Some(rest)) = (numbers.next(), numbers.next(), numbers.next())
    else {
        return match text {
            "" => "Version string empty".to_owned(),
            _ => "No Major.Minor.Patch elements found".to_owned(),
        };
    };
    let patch = rest.split(['-', '+']).next().unwrap_or_default();
    for (name, number) in [("Major", major), ("Minor", minor), ("Patch", patch)] {
        if number.is_empty() || !number.bytes().all(|digit| digit.is_ascii_digit()) {
            return format!(
                "Invalid character(s) found in {} number {number:?}",
                name.to_lowercase()
            );
        }
        if number.len() > 1 && number.starts_with('0') {
            return format!("{name} number must not contain leading zeroes {number:?}");
        }
    }
    "Prerelease is empty".to_owned()
}
