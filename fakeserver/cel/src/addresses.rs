//! Functions of addresses and networks.

use std::{net::IpAddr, sync::Arc};

use super::{
    interpreter::{EvaluationResult, Failure},
    misreadings::{read_address, read_network},
    operations::no_overload,
    value::{Opaque, Value, downcast, string},
};

/// An address as a value: none with a zone, and none of four numbers within one of eight.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Address(IpAddr);

/// A network as a value: an address, whose first bits the addresses in it have.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Network {
    address: IpAddr,
    length: u32,
}

impl Opaque for Address {
    fn type_name(&self) -> &'static str {
        "net.IP"
    }
}

impl Opaque for Network {
    fn type_name(&self) -> &'static str {
        "net.CIDR"
    }
}

/// Calls a function of addresses or networks, if `name` is one for such operands.
pub(super) fn call(name: &str, operands: &[Value]) -> Option<EvaluationResult> {
    if let [Value::String(text)] = operands {
        return Some(match name {
            "ip" => Address::parse(text).map(opaque),
            "cidr" => Network::parse(text).map(opaque),
            "isIP" => Ok(Value::Bool(Address::parse(text).is_ok())),
            "isCIDR" => Ok(Value::Bool(Network::parse(text).is_ok())),
            "ip.isCanonical" => {
                Address::parse(text).map(|address| Value::Bool(address.0.to_string() == **text))
            }
            _ => return None,
        });
    }
    let (first, rest) = operands.split_first()?;
    if let Some(network) = downcast::<Network>(first) {
        return network.call(name, rest);
    }
    let address = downcast::<Address>(first)?;
    address.call(name).filter(|_| rest.is_empty()).map(Ok)
}

fn opaque(value: impl Opaque) -> Value {
    Value::Opaque(Arc::new(value))
}

// === impl Address ===

impl Address {
    fn parse(text: &str) -> Result<Self, Failure> {
        read_address(text).map(Self).map_err(Failure::Error)
    }

    fn call(self, name: &str) -> Option<Value> {
        let Self(address) = self;
        let is_link_local_unicast = match address {
            IpAddr::V4(address) => address.is_link_local(),
            IpAddr::V6(address) => address.is_unicast_link_local(),
        };
        Some(match name {
            "family" => Value::Int(if address.is_ipv4() { 4 } else { 6 }),
            "isUnspecified" => Value::Bool(address.is_unspecified()),
            "isLoopback" => Value::Bool(address.is_loopback()),
            "isLinkLocalMulticast" => Value::Bool(match address {
                IpAddr::V4(address) => address.octets().starts_with(&[224, 0, 0]),
                IpAddr::V6(address) => address.segments()[0] & 0xff0f == 0xff02,
            }),
            "isLinkLocalUnicast" => Value::Bool(is_link_local_unicast),
            "isGlobalUnicast" => Value::Bool(
                !address.is_unspecified()
                    && !address.is_loopback()
                    && !address.is_multicast()
                    && !is_link_local_unicast
                    && !matches!(address, IpAddr::V4(address) if address.is_broadcast()),
            ),
            "string" => string(&address.to_string()),
            _ => return None,
        })
    }
}

// === impl Network ===

impl Network {
    fn parse(text: &str) -> Result<Self, Failure> {
        let (address, length) = read_network(text).map_err(Failure::Error)?;
        Ok(Self { address, length })
    }

    fn call(self, name: &str, arguments: &[Value]) -> Option<EvaluationResult> {
        Some(match (name, arguments) {
            ("ip", []) => Ok(opaque(Address(self.address))),
            ("prefixLength", []) => Ok(Value::Int(self.length.into())),
            ("masked", []) => Ok(opaque(self.masked())),
            ("string", []) => Ok(string(&format!("{}/{}", self.address, self.length))),
            // A text that is no address is answered without its error.
            ("containsIP", [Value::String(text)]) => Address::parse(text)
                .map(|address| Value::Bool(self.contains(address.0)))
                .map_err(|_| no_overload()),
            ("containsIP", [other]) => {
                let Address(address) = *downcast(other)?;
                Ok(Value::Bool(self.contains(address)))
            }
            ("containsCIDR", [Value::String(text)]) => {
                Self::parse(text).map(|inner| Value::Bool(self.contains_network(inner)))
            }
            ("containsCIDR", [other]) => Ok(Value::Bool(self.contains_network(*downcast(other)?))),
            _ => return None,
        })
    }

    fn contains(self, address: IpAddr) -> bool {
        let other = Self { address, ..self };
        self.address.is_ipv4() == address.is_ipv4() && self.masked() == other.masked()
    }

    fn contains_network(self, inner: Self) -> bool {
        self.length <= inner.length && self.contains(inner.address)
    }

    /// Returns the network without the bits of its address that are not of the network.
    fn masked(self) -> Self {
        let kept = |width: u32, bits: u128| {
            let rest = width.saturating_sub(self.length);
            bits.checked_shr(rest)
                .unwrap_or(0)
                .checked_shl(rest)
                .unwrap_or(0)
        };
        let address = match self.address {
            IpAddr::V4(address) => {
                let bits = kept(32, address.to_bits().into());
                IpAddr::V4(u32::try_from(bits).unwrap_or_default().into())
            }
            IpAddr::V6(address) => IpAddr::V6(kept(128, address.to_bits()).into()),
        };
        Self { address, ..self }
    }
}
