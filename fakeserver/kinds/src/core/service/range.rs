//! The range of the addresses that services get.

use std::{net::Ipv4Addr, str::FromStr};

/// A range of addresses of version 4 for services, between `/8` and `/29`. Its first address is that of the API server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(alias = "service-cluster-ip-range")]
pub struct ServiceRange {
    net: Ipv4Addr,
    bits: u32,
}

/// A text that is no such range. Trying again does not help.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no range of IPv4 addresses between /8 and /29; try `10.0.0.0/24`")]
pub struct ServiceRangeError(String);

// === impl ServiceRange ===

impl ServiceRange {
    /// The range of the embedded objects of a new cluster.
    pub const DEFAULT: Self = Self {
        net: Ipv4Addr::new(10, 0, 0, 0),
        bits: 16,
    };

    /// Returns the address of the API server's service.
    pub fn first(self) -> Ipv4Addr {
        Ipv4Addr::from_bits(self.net.to_bits() + 1)
    }

    /// Returns the address that clusters give their name service, the tenth, if the range has ten addresses.
    pub fn of_dns(self) -> Option<Ipv4Addr> {
        let has_room = 1_u64 << (32 - self.bits) > 10;
        has_room.then(|| Ipv4Addr::from_bits(self.net.to_bits() + 10))
    }
}

impl std::fmt::Display for ServiceRange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", self.net, self.bits)
    }
}

impl FromStr for ServiceRange {
    type Err = ServiceRangeError;

    fn from_str(text: &str) -> Result<Self, ServiceRangeError> {
        let parse = || {
            let (net, bits) = text.split_once('/')?;
            let (net, bits) = (net.parse::<Ipv4Addr>().ok()?, bits.parse::<u32>().ok()?);
            // A range needs at least eight addresses.
            (8..=29).contains(&bits).then_some((net, bits))
        };
        let (net, bits) = parse().ok_or_else(|| ServiceRangeError(text.to_owned()))?;
        let net = Ipv4Addr::from_bits(net.to_bits() & (u32::MAX << (32 - bits)));
        Ok(Self { net, bits })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_has_room_and_a_first_address() {
        let range: ServiceRange = "10.1.2.3/24".parse().unwrap();
        assert_eq!(range.to_string(), "10.1.2.0/24");
        assert_eq!(range.first(), Ipv4Addr::new(10, 1, 2, 1));
        for text in ["", "10.0.0.0", "10.0.0.0/31", "fd00::/64", "x/24"] {
            let error = text.parse::<ServiceRange>().unwrap_err();
            assert!(error.to_string().ends_with("try `10.0.0.0/24`"), "{error}");
        }
    }
}
