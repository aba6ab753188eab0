//! Addresses and networks as Go reads them, with a real server's words for invalid texts.

use std::net::{IpAddr, Ipv6Addr};

const CONVERSION: &str = "parse error during conversion from string";

/// Reads an address. One with a zone is refused, and one of four numbers within one of eight.
pub(super) fn read_address(text: &str) -> Result<IpAddr, String> {
    let failed = |why| format!("IP Address {text:?} {CONVERSION}: {why}");
    if let Some(why) = address_problem(text) {
        return Err(failed(why));
    }
    if text.contains('%') {
        return Err(format!(
            "IP address {text:?} with zone value is not allowed"
        ));
    }
    let address = text.parse();
    let address =
        address.map_err(|_| failed(format!("ParseAddr({text:?}): unable to parse IP")))?;
    refuse_mapped(address, text)
}

/// Reads an address and the number of its bits that the addresses of a network share.
pub(super) fn read_network(text: &str) -> Result<(IpAddr, u32), String> {
    let failed = |why| format!("network address {CONVERSION}: {why}");
    let problem = |why| {
        let why = format!("netip.ParsePrefix({text:?}): {why}");
        failed(failed(why))
    };
    if let Some(why) = network_problem(text) {
        return Err(problem(why));
    }
    let (address, length) = text.rsplit_once('/').unwrap_or_default();
    match (address.parse(), length.parse()) {
        (Ok(address), Ok(length)) => {
            let address = refuse_mapped(address, text).map_err(failed)?;
            Ok((address, length))
        }
        _ => Err(problem("no '/'".to_owned())),
    }
}

fn refuse_mapped(address: IpAddr, text: &str) -> Result<IpAddr, String> {
    match address {
        IpAddr::V6(address) if address.to_ipv4_mapped().is_some() => {
            Err(format!("IPv4-mapped IPv6 address {text:?} is not allowed"))
        }
        address => Ok(address),
    }
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

/// Returns the error of an IPv4 address.
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
