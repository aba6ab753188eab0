//! The ranges of the addresses that services get, one for each family of a cluster.

use std::{
    fmt::{self, Display},
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    str::FromStr,
};

use crate::addresses::parse_cidr;

/// The least number of host bits of a range: kube-apiserver wants eight addresses.
const HOST_BITS_MIN: u32 = 3;
/// The shortest prefix of an IPv6 range from which kube-apiserver allocates.
const V6_BITS_MIN: u32 = 64;
/// The number of the address that clusters give their name service.
const DNS: u128 = 10;

/// A family of IP addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum IpFamily {
    V4,
    V6,
}

/// A range of addresses of one family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressRange {
    first: IpAddr,
    prefix_bits: u32,
}

/// The ranges of the addresses of services: one, or one of each family, of which the first is the primary one.
///
/// It is written as kube-apiserver's option: `10.0.0.0/24`, `fd00::/112` or `10.0.0.0/24,fd00::/112`. A range has eight
/// addresses at least; the prefix of an IPv6 range has 64 bits at least. The first address of the primary range is that of
/// the API server.
///
/// # Examples
///
/// ```
/// # use fakeserver_kinds::core::service::range::ServiceRange;
/// let range: ServiceRange = "fd00:10::/112,10.1.0.0/16".parse()?;
/// assert_eq!(range.first().to_string(), "fd00:10::1");
/// # Ok::<_, fakeserver_kinds::core::service::range::ServiceRangeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(alias = "service-cluster-ip-range")]
pub struct ServiceRange {
    primary: AddressRange,
    secondary: Option<AddressRange>,
}

/// A text that is no range of service addresses. Trying again does not help.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ServiceRangeError {
    #[error(
        "{0:?} is no range of at least 8 addresses, of IPv4 up to /29 or of IPv6 between /64 and /125; try `10.0.0.0/24`"
    )]
    NotARange(String),
    #[error(
        "{0:?} must not contain more than two entries; try one range, or one of IPv4 and one of IPv6"
    )]
    TooMany(String),
    #[error(
        "{0:?}: the two ranges must be of different IP family; try one of IPv4 and one of IPv6, as in `10.0.0.0/16,fd00:10::/112`"
    )]
    SameFamily(String),
}

// === impl IpFamily ===

impl IpFamily {
    /// Returns its name in the fields of objects.
    pub const fn name(self) -> &'static str {
        match self {
            Self::V4 => "IPv4",
            Self::V6 => "IPv6",
        }
    }

    /// Returns the family that fields of objects call `name`.
    pub fn named(name: &str) -> Option<Self> {
        [Self::V4, Self::V6]
            .into_iter()
            .find(|family| family.name() == name)
    }

    pub const fn of(address: IpAddr) -> Self {
        match address {
            IpAddr::V4(_) => Self::V4,
            IpAddr::V6(_) => Self::V6,
        }
    }

    /// Returns the family of an address as objects write it.
    pub fn of_text(address: &str) -> Self {
        if address.contains(':') {
            Self::V6
        } else {
            Self::V4
        }
    }

    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::V4 => Self::V6,
            Self::V6 => Self::V4,
        }
    }

    /// Returns the number of bits of an address.
    const fn bits(self) -> u32 {
        match self {
            Self::V4 => 32,
            Self::V6 => 128,
        }
    }
}

// === impl AddressRange ===

impl AddressRange {
    /// Reads a range, as in `10.0.0.0/24` or `fd00::/112`.
    pub fn parse(text: &str) -> Option<Self> {
        let (address, prefix_bits) = parse_cidr(text)?;
        Some(Self::new(address, prefix_bits))
    }

    /// Returns the range of all addresses that have the first `prefix_bits` bits of `address`.
    fn new(address: IpAddr, prefix_bits: u32) -> Self {
        let host_bits = IpFamily::of(address).bits() - prefix_bits;
        let mask = u128::MAX.checked_shl(host_bits).unwrap_or_default();
        Self {
            first: with_bits(IpFamily::of(address), bits(address) & mask),
            prefix_bits,
        }
    }

    pub const fn family(self) -> IpFamily {
        IpFamily::of(self.first)
    }

    pub fn contains(self, address: IpAddr) -> bool {
        IpFamily::of(address) == self.family() && Self::new(address, self.prefix_bits) == self
    }

    /// Returns the address of that number, of which the first is 0, if the range has so many.
    pub fn address(self, number: u128) -> Option<IpAddr> {
        let address = bits(self.first).checked_add(number)?;
        let is_within = self.count().is_none_or(|count| number < count);
        is_within.then(|| with_bits(self.family(), address))
    }

    /// Returns whether services can have the address, which is in the range: not the first one, nor the last one of IPv4.
    pub fn allocates(self, address: IpAddr) -> bool {
        let number = bits(address) - bits(self.first);
        let is_last = self.count().is_some_and(|count| number == count - 1);
        number != 0 && !(is_last && self.family() == IpFamily::V4)
    }

    /// Returns its addresses in the order in which they are tried: those at the beginning last, a sixteenth but between 16 and
    /// 256, since they are for services that ask for one.
    pub(super) fn addresses(self, seed: u64) -> impl Iterator<Item = IpAddr> {
        let count = self.count().unwrap_or(u128::MAX);
        let asked_for = (count / 16).clamp(16, 256).min(count - 1);
        let start = asked_for + u128::from(seed) % (count - asked_for);
        let numbers = (0..count).map(move |step| (start + step) % count);
        // The first and the last of each block of 256 are left out: the one looks like a net, the other like a broadcast. So are
        // those of a smaller range. IPv6 has no broadcasts.
        let is_usual = move |number: &u128| match self.family() {
            IpFamily::V4 => {
                !matches!(number & 0xff, 0 | 0xff) && *number != 0 && *number != count - 1
            }
            IpFamily::V6 => *number != 0,
        };
        numbers
            .filter(is_usual)
            .filter_map(move |number| self.address(number))
    }

    /// Returns the number of its addresses, unless these are all addresses of IPv6.
    fn count(self) -> Option<u128> {
        1_u128.checked_shl(self.host_bits())
    }

    fn host_bits(self) -> u32 {
        self.family().bits() - self.prefix_bits
    }

    /// Returns whether it can be one of a cluster.
    fn is_for_services(self) -> bool {
        let is_short = self.family() == IpFamily::V6 && self.prefix_bits < V6_BITS_MIN;
        self.host_bits() >= HOST_BITS_MIN && !is_short
    }
}

impl Display for AddressRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.first, self.prefix_bits)
    }
}

fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => address.to_bits().into(),
        IpAddr::V6(address) => address.to_bits(),
    }
}

/// Returns the address of a family that has these bits.
fn with_bits(family: IpFamily, bits: u128) -> IpAddr {
    match family {
        // Masks and numbers are checked before, so that no bit is lost.
        IpFamily::V4 => Ipv4Addr::from_bits(u32::try_from(bits).unwrap_or(u32::MAX)).into(),
        IpFamily::V6 => Ipv6Addr::from_bits(bits).into(),
    }
}

// === impl ServiceRange ===

impl ServiceRange {
    /// The range of the embedded objects of a new cluster.
    pub const DEFAULT: Self = Self {
        primary: AddressRange {
            first: IpAddr::V4(Ipv4Addr::new(10, 0, 0, 0)),
            prefix_bits: 16,
        },
        secondary: None,
    };

    /// The default range of IPv6.
    const DEFAULT_V6: AddressRange = AddressRange {
        first: IpAddr::V6(Ipv6Addr::new(0xfd00, 0x10, 0x96, 0, 0, 0, 0, 0)),
        prefix_bits: 112,
    };

    /// Returns the default ranges of a cluster of these families, `10.0.0.0/16` and `fd00:10:96::/112`.
    pub fn of_families(primary: IpFamily, has_secondary: bool) -> Self {
        let default = |family| match family {
            IpFamily::V4 => Self::DEFAULT.primary,
            IpFamily::V6 => Self::DEFAULT_V6,
        };
        Self {
            primary: default(primary),
            secondary: has_secondary.then(|| default(primary.other())),
        }
    }

    /// Returns the ranges of an object that has them, if it has one or two.
    pub fn of_cidrs<'a>(cidrs: impl IntoIterator<Item = &'a str>) -> Option<Self> {
        let cidrs: Vec<&str> = cidrs.into_iter().collect();
        cidrs.join(",").parse().ok()
    }

    /// Returns the ranges, the primary one first.
    pub fn ranges(self) -> impl Iterator<Item = AddressRange> + Clone {
        [Some(self.primary), self.secondary].into_iter().flatten()
    }

    /// Returns the families of the cluster, the primary one first.
    pub fn families(self) -> impl Iterator<Item = IpFamily> + Clone {
        self.ranges().map(AddressRange::family)
    }

    /// Returns the range of the primary family.
    pub fn primary(self) -> AddressRange {
        self.primary
    }

    /// Returns whether the cluster has the family.
    pub fn has(self, family: IpFamily) -> bool {
        self.families().any(|own| own == family)
    }

    /// Returns the address of the API server's service.
    pub fn first(self) -> IpAddr {
        let first = self.primary.address(1);
        first.unwrap_or(self.primary.first)
    }

    /// Returns the address that clusters give their name service, the tenth, if the range has ten addresses.
    pub fn of_dns(self) -> Option<IpAddr> {
        self.primary.address(DNS)
    }
}

impl Display for ServiceRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.primary.fmt(f)?;
        match self.secondary {
            Some(secondary) => write!(f, ",{secondary}"),
            None => Ok(()),
        }
    }
}

impl FromStr for ServiceRange {
    type Err = ServiceRangeError;

    fn from_str(text: &str) -> Result<Self, ServiceRangeError> {
        let parts: Vec<&str> = text.split(',').map(str::trim).collect();
        if parts.len() > 2 {
            return Err(ServiceRangeError::TooMany(text.to_owned()));
        }
        let parse = |part: &str| {
            let range = AddressRange::parse(part).filter(|range| range.is_for_services());
            range.ok_or_else(|| ServiceRangeError::NotARange(part.to_owned()))
        };
        let primary = parse(parts[0])?;
        let secondary = parts.get(1).map(|part| parse(part)).transpose()?;
        if secondary.is_some_and(|secondary| secondary.family() == primary.family()) {
            return Err(ServiceRangeError::SameFamily(text.to_owned()));
        }
        Ok(Self { primary, secondary })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_has_room_and_a_first_address() {
        for (text, printed, first, dns) in [
            ("10.1.2.3/24", "10.1.2.0/24", "10.1.2.1", Some("10.1.2.10")),
            ("10.1.2.0/29", "10.1.2.0/29", "10.1.2.1", None),
            ("10.1.2.3/7", "10.0.0.0/7", "10.0.0.1", Some("10.0.0.10")),
            (
                "FD00::7:1/112",
                "fd00::7:0/112",
                "fd00::7:1",
                Some("fd00::7:a"),
            ),
            ("fd00::/64", "fd00::/64", "fd00::1", Some("fd00::a")),
            (
                "fd00::/108,10.0.0.0/16",
                "fd00::/108,10.0.0.0/16",
                "fd00::1",
                Some("fd00::a"),
            ),
            (
                "10.0.0.0/16, fd00::/108",
                "10.0.0.0/16,fd00::/108",
                "10.0.0.1",
                Some("10.0.0.10"),
            ),
        ] {
            let range: ServiceRange = text.parse().unwrap();
            assert_eq!(range.to_string(), printed);
            assert_eq!(range.first().to_string(), first);
            let found = range.of_dns().map(|address| address.to_string());
            assert_eq!(found.as_deref(), dns, "{text}");
        }
    }

    #[test]
    fn a_cluster_has_one_range_or_one_of_each_family() {
        for (text, why) in [
            ("", "try `10.0.0.0/24`"),
            ("10.0.0.0", "try `10.0.0.0/24`"),
            ("10.0.0.0/31", "try `10.0.0.0/24`"),
            ("x/24", "try `10.0.0.0/24`"),
            ("fd00::/48", "IPv6 between /64 and /125"),
            ("fd00::/126", "IPv6 between /64 and /125"),
            ("10.0.0.0/16,", "try `10.0.0.0/24`"),
            ("10.0.0.0/16,10.1.0.0/16", "must be of different IP family"),
            ("fd00::/112,fd01::/112", "must be of different IP family"),
            (
                "10.0.0.0/16,fd00::/112,10.1.0.0/16",
                "must not contain more than two entries",
            ),
        ] {
            let error = text.parse::<ServiceRange>().unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn addresses_for_requests_and_those_that_none_has_come_last() {
        let range = AddressRange::parse("fd00::/120").unwrap();
        let all: Vec<IpAddr> = range.addresses(0).collect();
        assert_eq!(all.len(), 255);
        assert_eq!(all[0].to_string(), "fd00::10");
        assert_eq!(all[254].to_string(), "fd00::f");
        assert!(!range.allocates("fd00::".parse().unwrap()));
        assert!(range.allocates("fd00::ff".parse().unwrap()));
        let large = AddressRange::parse("fd00::/64").unwrap();
        assert_eq!(large.addresses(3).next(), large.address(259));
        let old = AddressRange::parse("10.0.0.0/24").unwrap();
        assert_eq!(old.addresses(1).next(), old.address(17));
        assert_eq!(old.addresses(1).count(), 254);
        assert!(!old.allocates("10.0.0.255".parse().unwrap()));
        assert!(!old.contains("fd00::1".parse().unwrap()));
    }
}
