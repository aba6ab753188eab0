//! Checks and warnings of addresses and of ranges of addresses.
//!
//! Go reads more than it accepts: leading zeros, and addresses of IPv4 in those of IPv6. Both have findings of their own.

use std::{
    borrow::Cow,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use fakeserver_value::{field::Field, findings::Findings, go_text::quote};

const NO_ADDRESS: &str = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
const NO_RANGE: &str = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";

/// A range as Go reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    address: IpAddr,
    prefix_bits: u32,
}

/// Reads an address, with leading zeros.
pub fn parse_ip(text: &str) -> Option<IpAddr> {
    if text.contains(':') {
        return text.parse::<Ipv6Addr>().ok().map(IpAddr::V6);
    }
    let parts: Vec<&str> = text.split('.').collect();
    let parts: [&str; 4] = parts.try_into().ok()?;
    let mut octets = [0; 4];
    for (octet, part) in octets.iter_mut().zip(parts) {
        *octet = decimal(part)?;
    }
    Some(Ipv4Addr::from(octets).into())
}

/// Returns an address or a name as it is written before a port: one of IPv6 in brackets.
#[doc(alias = "JoinHostPort")]
pub fn in_url(host: &str) -> Cow<'_, str> {
    if host.contains(':') {
        Cow::Owned(format!("[{host}]"))
    } else {
        Cow::Borrowed(host)
    }
}

/// Reads an address and the length of its prefix, with leading zeros.
pub fn parse_cidr(text: &str) -> Option<(IpAddr, u32)> {
    let (address, bits) = text.split_once('/')?;
    let address = parse_ip(address)?;
    let bits = decimal::<u32>(bits)?;
    (bits <= bits_of(address)).then_some((address, bits))
}

/// Returns whether a range contains another range, or an address.
pub fn cidr_contains(range: &str, inner: &str) -> bool {
    let whole = |address| Range {
        address,
        prefix_bits: bits_of(address),
    };
    let inner = Range::parse(inner).or_else(|| parse_ip(inner).map(whole));
    let (Some(range), Some(inner)) = (Range::parse(range), inner) else {
        return false;
    };
    let first = Range {
        address: inner.address,
        prefix_bits: range.prefix_bits,
    };
    range.address.is_ipv4() == inner.address.is_ipv4()
        && range.prefix_bits <= inner.prefix_bits
        && first.network() == range.network()
}

/// Checks an address of a field that is older than the rule that addresses are canonical.
pub fn check_ip(field: &Field<'_>, found: &mut Findings) {
    for problem in ip_problems(field.text()) {
        found.invalid_text(field, &problem);
    }
}

/// Checks a canonical address.
pub fn check_canonical_ip(field: &Field<'_>, found: &mut Findings) {
    found.problems(field, canonical_ip_problems(field.text()));
}

/// Returns the problems of a canonical address.
pub fn canonical_ip_problems(text: &str) -> Vec<String> {
    let mut problems = ip_problems(text);
    if let Some(address) = parse_ip(text).filter(|_| problems.is_empty()) {
        problems.extend(canonical_problem(text, &print(address)));
    }
    problems
}

/// Checks a range of a field that is older than the rule that ranges are canonical.
pub fn check_cidr(field: &Field<'_>, found: &mut Findings) {
    if let Some(problem) = cidr_problem(field.text()) {
        found.invalid_text(field, problem);
    }
}

/// Does the same for a range that may have spaces around.
pub fn check_padded_cidr(field: &Field<'_>, found: &mut Findings) {
    let text = field.text().trim();
    if let Some(problem) = cidr_problem(text) {
        found.invalid_as(field, &text.into(), problem);
    }
}

/// Checks a canonical range.
pub fn check_canonical_cidr(field: &Field<'_>, found: &mut Findings) {
    check_cidr(field, found);
    if cidr_problem(field.text()).is_none()
        && let Some(range) = Range::parse(field.text())
    {
        let problem = canonical_problem(field.text(), &range.print());
        found.problems(field, problem.into_iter().collect());
    }
}

/// Checks the canonical address of an interface, with the length of the prefix of its network.
pub fn check_interface_address(field: &Field<'_>, found: &mut Findings) {
    let Some(range) = Range::parse(field.text()) else {
        let why = "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)";
        return found.invalid_text(field, why);
    };
    let problem = canonical_problem(field.text(), &range.unmapped().print_interface());
    found.problems(field, problem.into_iter().collect());
}

/// Warns of an address that is not canonical.
#[doc(alias = "GetWarningsForIP")]
pub fn warn_of_ip(field: &Field<'_>, warnings: &mut Vec<String>) {
    let text = field.text();
    let Some(address) = parse_ip(text) else {
        return;
    };
    let (path, quoted) = (field.path(), quote(text));
    if text.parse::<IpAddr>().is_err() || is_mapped(address) {
        let better = quote(&print(address));
        warnings.push(format!(
            "{path}: non-standard IP address {quoted} is invalid: use {better}"
        ));
    } else if address.is_ipv6() && address.to_string() != text {
        let better = quote(&address.to_string());
        warnings.push(format!(
            "{path}: IPv6 address {quoted} should be in RFC 5952 canonical format ({better})"
        ));
    }
}

/// Warns of a range that is not canonical.
#[doc(alias = "GetWarningsForCIDR")]
pub fn warn_of_cidr(field: &Field<'_>, warnings: &mut Vec<String>) {
    let text = field.text();
    let Some(range) = Range::parse(text) else {
        return;
    };
    let (path, quoted) = (field.path(), quote(text));
    let network = quote(&range.unmapped().print());
    let before = warnings.len();
    if range.network() != range.address {
        let address = range.unmapped().address;
        let single = quote(&format!("{address}/{}", bits_of(range.address)));
        warnings.push(format!(
            "{path}: CIDR value {quoted} is ambiguous in this context (should be {network} or {single}?)"
        ));
    }
    if !is_strict_cidr(text) || is_mapped(range.address) {
        warnings.push(format!(
            "{path}: non-standard CIDR value {quoted} is invalid: use {network}"
        ));
    }
    let canonical = format!("{}/{}", range.address, range.prefix_bits);
    if warnings.len() == before && range.address.is_ipv6() && canonical != text {
        let canonical = quote(&canonical);
        warnings.push(format!(
            "{path}: IPv6 CIDR value {quoted} should be in RFC 5952 canonical format ({canonical})"
        ));
    }
}

fn ip_problems(text: &str) -> Vec<String> {
    let Some(address) = parse_ip(text) else {
        return vec![NO_ADDRESS.to_owned()];
    };
    let mut problems = Vec::new();
    if text.parse::<IpAddr>().is_err() {
        problems.push("must not have leading 0s".to_owned());
    }
    if is_mapped(address) {
        problems.push("must not be an IPv4-mapped IPv6 address".to_owned());
    }
    problems
}

fn cidr_problem(text: &str) -> Option<&'static str> {
    let Some(range) = Range::parse(text) else {
        return Some(NO_RANGE);
    };
    if !is_strict_cidr(text) {
        return Some("must not have leading 0s in IP or prefix length");
    }
    if is_mapped(range.address) {
        return Some("must not have an IPv4-mapped IPv6 address");
    }
    (range.network() != range.address).then_some("must not have bits set beyond the prefix length")
}

fn canonical_problem(text: &str, canonical: &str) -> Option<String> {
    let canonical_form = format!("must be in canonical form ({})", quote(canonical));
    (text != canonical).then_some(canonical_form)
}

/// Returns whether neither the address nor the length of its prefix has leading zeros.
fn is_strict_cidr(text: &str) -> bool {
    text.split_once('/').is_some_and(|(address, bits)| {
        let has_zero = bits.len() > 1 && bits.starts_with('0');
        address.parse::<IpAddr>().is_ok() && !has_zero
    })
}

fn decimal<N: std::str::FromStr>(text: &str) -> Option<N> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}

fn is_mapped(address: IpAddr) -> bool {
    matches!(address, IpAddr::V6(address) if address.to_ipv4_mapped().is_some())
}

fn bits_of(address: IpAddr) -> u32 {
    if address.is_ipv4() { 32 } else { 128 }
}

/// Returns an address as Go prints it: a mapped one as one of IPv4.
fn print(address: IpAddr) -> String {
    address.to_canonical().to_string()
}

// === impl Range ===

impl Range {
    fn parse(text: &str) -> Option<Self> {
        let (address, prefix_bits) = parse_cidr(text)?;
        Some(Self {
            address,
            prefix_bits,
        })
    }

    /// Returns the first address of the range.
    fn network(self) -> IpAddr {
        match self.address {
            IpAddr::V4(address) => {
                let mask = u32::MAX.checked_shl(32 - self.prefix_bits);
                Ipv4Addr::from(u32::from(address) & mask.unwrap_or_default()).into()
            }
            IpAddr::V6(address) => {
                let mask = u128::MAX.checked_shl(128 - self.prefix_bits);
                Ipv6Addr::from(u128::from(address) & mask.unwrap_or_default()).into()
            }
        }
    }

    /// Returns the same range, of IPv4 if its address is mapped.
    fn unmapped(self) -> Self {
        if !is_mapped(self.address) || self.prefix_bits < 96 {
            return self;
        }
        Self {
            address: self.address.to_canonical(),
            prefix_bits: self.prefix_bits - 96,
        }
    }

    fn print(self) -> String {
        format!("{}/{}", self.network(), self.prefix_bits)
    }

    fn print_interface(self) -> String {
        format!("{}/{}", self.address, self.prefix_bits)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_range_contains_ranges_and_addresses() {
        for (range, inner) in [
            ("10.0.0.0/24", "10.0.0.255"),
            ("10.0.0.0/24", "10.0.0.0/24"),
            ("10.0.0.0/8", "10.1.0.0/16"),
            ("0.0.0.0/0", "1.2.3.4"),
            ("fd00::/64", "fd00::7"),
        ] {
            assert!(cidr_contains(range, inner), "{range} {inner}");
        }
        for (range, inner) in [
            ("10.0.0.0/24", "10.0.1.0"),
            ("10.0.0.0/24", "10.0.0.0/16"),
            ("::/0", "10.0.0.1"),
            ("10.0.0.0", "10.0.0.0"),
            ("10.0.0.0/24", "x"),
        ] {
            assert!(!cidr_contains(range, inner), "{range} {inner}");
        }
    }

    fn found(check: fn(&Field<'_>, &mut Findings), text: &str) -> Vec<String> {
        let (value, mut found) = (json!(text), Findings::default());
        check(&Field::root(&value), &mut found);
        let errors = found.into_errors();
        errors.iter().map(|error| error.detail.clone()).collect()
    }

    #[test]
    fn addresses_have_findings_of_their_own() {
        for (text, expected) in [
            ("10.0.0.1", None),
            ("FE80::1", None),
            ("10.0.0", Some(NO_ADDRESS)),
            ("fe80::1%eth0", Some(NO_ADDRESS)),
            ("010.0.0.1", Some("must not have leading 0s")),
            (
                "::ffff:1.2.3.4",
                Some("must not be an IPv4-mapped IPv6 address"),
            ),
        ] {
            let expected = expected.map(|why| format!("Invalid value: \"{text}\": {why}"));
            assert_eq!(found(check_ip, text), Vec::from_iter(expected), "{text}");
        }
        assert_eq!(
            found(check_canonical_ip, "FE80::1"),
            ["Invalid value: \"FE80::1\": must be in canonical form (\"fe80::1\")"]
        );
    }

    #[test]
    fn ranges_have_findings_of_their_own() {
        for (text, expected) in [
            ("10.0.0.0/8", None),
            ("FE80::/10", None),
            ("10.0.0.0/33", Some(NO_RANGE)),
            (
                "10.0.0.0/08",
                Some("must not have leading 0s in IP or prefix length"),
            ),
            (
                "::ffff:1.2.3.0/120",
                Some("must not have an IPv4-mapped IPv6 address"),
            ),
            (
                "10.0.0.1/8",
                Some("must not have bits set beyond the prefix length"),
            ),
        ] {
            let expected = expected.map(|why| format!("Invalid value: \"{text}\": {why}"));
            assert_eq!(found(check_cidr, text), Vec::from_iter(expected), "{text}");
        }
        assert_eq!(
            found(check_canonical_cidr, "FE80::/10"),
            ["Invalid value: \"FE80::/10\": must be in canonical form (\"fe80::/10\")"]
        );
    }

    #[test]
    fn warnings_name_the_canonical_form() {
        let mut warnings = Vec::new();
        for text in ["10.0.0.1", "010.0.0.1", "::FFFF:1.2.3.4", "FE80::1"] {
            warn_of_ip(&Field::root(&json!(text)), &mut warnings);
        }
        warn_of_cidr(&Field::root(&json!("10.0.0.1/08")), &mut warnings);
        assert_eq!(
            warnings,
            [
                ": non-standard IP address \"010.0.0.1\" is invalid: use \"10.0.0.1\"",
                ": non-standard IP address \"::FFFF:1.2.3.4\" is invalid: use \"1.2.3.4\"",
                ": IPv6 address \"FE80::1\" should be in RFC 5952 canonical format (\"fe80::1\")",
                ": CIDR value \"10.0.0.1/08\" is ambiguous in this context (should be \"10.0.0.0/8\" or \"10.0.0.1/32\"?)",
                ": non-standard CIDR value \"10.0.0.1/08\" is invalid: use \"10.0.0.0/8\"",
            ]
        );
    }
}
