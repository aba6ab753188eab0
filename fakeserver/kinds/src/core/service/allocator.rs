//! The allocator of addresses and node ports.

use std::{
    collections::BTreeSet,
    net::{IpAddr, Ipv4Addr},
};

use fakeserver_value::{edit::is_unset, status::FieldError};
use serde_json::{Value, json};

use crate::{
    addresses::parse_cidr,
    core::service::needs::{Needs, is_zero},
};

/// The range of addresses where no object has one: `10.0.0.0/16`.
const RANGE_DEFAULT: AddressRange = AddressRange {
    first: Ipv4Addr::new(10, 0, 0, 0).to_bits(),
    bits: 16,
};

/// The first node port of services, and the number of ports.
const FIRST_NODE_PORT: u64 = 30_000;

const NODE_PORTS: u64 = 2_768;

/// The reason why an allocation fails.
pub enum Problem {
    Refused(FieldError),
    /// All ports are taken.
    Full,
}

/// A range of addresses of services, version 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct AddressRange {
    first: u32,
    /// The number of bits that its addresses have in common.
    bits: u32,
}

/// Allocates the addresses and ports that a service needs and does not have.
pub struct Allocator {
    /// At least one.
    ranges: Vec<AddressRange>,
    taken: TakenAddresses,
    seed: u64,
    is_strict: bool,
}

/// The addresses and ports of other services.
#[derive(Debug, Default)]
struct TakenAddresses {
    addresses: BTreeSet<IpAddr>,
    ports: BTreeSet<u64>,
}

impl TakenAddresses {
    fn by(services: impl Iterator<Item = Value>) -> Self {
        let mut taken = Self::default();
        for service in services {
            let spec = &service["spec"];
            taken.addresses.extend(addresses(spec));
            taken.ports.extend(numbers(spec));
            taken.ports.extend(spec["healthCheckNodePort"].as_u64());
        }
        taken
    }
}

impl Allocator {
    /// `cidrs` are the objects that have ranges, `others` all other services. Which address and port are tried first follows
    /// from `seed`.
    ///
    /// With `is_strict`, requested addresses and ports have to be free.
    pub fn new(
        cidrs: impl Iterator<Item = Value>,
        others: impl Iterator<Item = Value>,
        seed: u64,
        is_strict: bool,
    ) -> Self {
        let mut ranges: Vec<AddressRange> = cidrs.flat_map(|cidr| ranges_of(&cidr)).collect();
        if ranges.is_empty() {
            ranges.push(RANGE_DEFAULT);
        }
        Self {
            ranges,
            taken: TakenAddresses::by(others),
            seed,
            is_strict,
        }
    }

    /// Returns whether `service` gets or requests anything that `old`, which it replaces, did not have.
    pub fn concerns(old: Option<&Value>, service: &Value) -> bool {
        let needs = Needs::of(&service["spec"]);
        let had = old.map(|old| &old["spec"]);
        needs != had.map(Needs::of).unwrap_or_default()
            || !needs.is_met(&service["spec"])
            || !numbers(&service["spec"]).is_subset(&had.map(numbers).unwrap_or_default())
    }

    /// `old` is the service that an update replaces; `service` has all addresses and ports of `old` that it still needs.
    ///
    /// # Errors
    ///
    /// If something is asked for that is not free, or nothing is free; parts of `service` may have been filled then.
    pub fn fill(&self, old: Option<&Value>, service: &mut Value) -> Result<(), Problem> {
        let spec = &mut service["spec"];
        let needs = Needs::of(spec);
        let had = old.map(|old| Needs::of(&old["spec"])).unwrap_or_default();
        if needs.address && !had.address {
            self.set_addresses(spec)?;
        }
        if needs.node_ports {
            self.set_node_ports(old, spec)?;
        }
        if needs.health_check && is_zero(&spec["healthCheckNodePort"]) {
            spec["healthCheckNodePort"] = json!(self.free_port(&numbers(spec))?);
        }
        Ok(())
    }

    fn set_addresses(&self, spec: &mut Value) -> Result<(), Problem> {
        if is_unset(&spec["clusterIP"]) {
            spec["clusterIP"] = json!(self.free_address());
        }
        let address = spec["clusterIP"].clone();
        if spec["clusterIPs"].as_array().is_none_or(Vec::is_empty) {
            spec["clusterIPs"] = json!([address]);
        }
        let text = address.as_str().unwrap_or_default();
        let family = if text.contains(':') { "IPv6" } else { "IPv4" };
        if spec["ipFamilies"].as_array().is_none_or(Vec::is_empty) {
            spec["ipFamilies"] = json!([family]);
        }
        if spec["ipFamilyPolicy"].is_null() {
            spec["ipFamilyPolicy"] = json!("SingleStack");
        }
        let requested = addresses(spec).find_map(|address| Some((address, self.problem(address)?)));
        match requested {
            Some((address, problem)) if self.is_strict => {
                Err(Problem::Refused(FieldError::invalid(
                    "spec.clusterIPs",
                    &spec["clusterIPs"],
                    &format!("failed to allocate IP {address}: {problem}"),
                )))
            }
            _ => Ok(()),
        }
    }

    fn problem(&self, address: IpAddr) -> Option<&'static str> {
        let is_within = match address {
            IpAddr::V4(address) => self.ranges.iter().any(|range| range.contains(address)),
            IpAddr::V6(_) => true,
        };
        if !is_within {
            Some("the provided network does not match the current range")
        } else if self.taken.addresses.contains(&address) {
            Some("provided IP is already allocated")
        } else {
            None
        }
    }

    fn free_address(&self) -> String {
        let ranges = self.ranges.iter();
        let mut all = ranges.flat_map(|range| range.addresses(self.seed));
        let free = all.find(|address| !self.taken.addresses.contains(&(*address).into()));
        free.map(|address| address.to_string()).unwrap_or_default()
    }

    /// Ports of one number, one for each protocol, have one port on the nodes.
    fn set_node_ports(&self, old: Option<&Value>, spec: &mut Value) -> Result<(), Problem> {
        let had = old.map(|old| numbers(&old["spec"])).unwrap_or_default();
        let requested = ports(spec).filter(|(_, number)| self.is_strict && !had.contains(number));
        for (at, number) in requested {
            if let Some(problem) = self.port_problem(number) {
                let field = format!("spec.ports[{at}].nodePort");
                let error = FieldError::invalid(field, &json!(number), &problem);
                return Err(Problem::Refused(error));
            }
        }
        let mut given = numbers(spec);
        let all = spec.get_mut("ports").and_then(Value::as_array_mut);
        let mut before: Vec<(Value, u64)> = Vec::new();
        for port in all.into_iter().flatten() {
            if is_zero(&port["nodePort"]) {
                let same = before.iter().find(|(number, _)| *number == port["port"]);
                let number = match same {
                    Some((_, number)) => *number,
                    None => self.free_port(&given)?,
                };
                port["nodePort"] = json!(number);
            }
            let number = port["nodePort"].as_u64().unwrap_or_default();
            given.insert(number);
            before.push((port["port"].clone(), number));
        }
        Ok(())
    }

    fn port_problem(&self, number: u64) -> Option<String> {
        let last = FIRST_NODE_PORT + NODE_PORTS - 1;
        if !(FIRST_NODE_PORT..=last).contains(&number) {
            return Some(format!(
                "provided port is not in the valid range. The range of valid ports is {FIRST_NODE_PORT}-{last}"
            ));
        }
        let is_taken = self.taken.ports.contains(&number);
        is_taken.then(|| "provided port is already allocated".to_owned())
    }

    fn free_port(&self, given: &BTreeSet<u64>) -> Result<u64, Problem> {
        let start = self.seed >> 24;
        let numbers =
            (0..NODE_PORTS).map(|step| FIRST_NODE_PORT + start.wrapping_add(step) % NODE_PORTS);
        let mut free =
            numbers.filter(|number| !self.taken.ports.contains(number) && !given.contains(number));
        free.next().ok_or(Problem::Full)
    }
}

/// Returns the ranges of an object that is not going away.
fn ranges_of(cidr: &Value) -> Vec<AddressRange> {
    let is_leaving = !cidr["metadata"]["deletionTimestamp"].is_null();
    let ranges = cidr["spec"]["cidrs"].as_array().filter(|_| !is_leaving);
    let ranges = ranges.into_iter().flatten().filter_map(Value::as_str);
    ranges.filter_map(AddressRange::parse).collect()
}

// === impl AddressRange ===

impl AddressRange {
    /// Reads a range of version 4, as in `10.0.0.0/24`.
    fn parse(text: &str) -> Option<Self> {
        match parse_cidr(text)? {
            (IpAddr::V4(address), bits) => Some(Self {
                first: address.to_bits() & mask(bits),
                bits,
            }),
            (IpAddr::V6(_), _) => None,
        }
    }

    fn contains(self, address: Ipv4Addr) -> bool {
        address.to_bits() & mask(self.bits) == self.first
    }

    /// Returns its addresses in the order in which they are tried: those at the beginning last, a sixteenth but between 16 and
    /// 256, since they are for services that ask for one.
    fn addresses(self, seed: u64) -> impl Iterator<Item = Ipv4Addr> {
        let count = 1_u64 << (32 - self.bits);
        let asked_for = (count / 16).clamp(16, 256).min(count - 1);
        let start = asked_for + seed % (count - asked_for);
        let numbers = (0..count).map(move |step| (start + step) % count);
        // The first and the last of each block of 256 are left out: the one looks like a net, the other like a broadcast. So are
        // those of a smaller range.
        let numbers = numbers.filter(move |number| {
            !matches!(number & 0xff, 0 | 0xff) && *number != 0 && *number != count - 1
        });
        numbers.filter_map(move |number| {
            let address = self.first.checked_add(u32::try_from(number).ok()?)?;
            Some(Ipv4Addr::from_bits(address))
        })
    }
}

/// Returns the bits that the addresses of a range have in common.
fn mask(bits: u32) -> u32 {
    u32::MAX.checked_shl(32 - bits).unwrap_or_default()
}

/// The addresses of a service that are any.
fn addresses(spec: &Value) -> impl Iterator<Item = IpAddr> {
    let all = spec["clusterIPs"].as_array().into_iter().flatten();
    all.filter_map(|address| address.as_str()?.parse().ok())
}

/// Returns the node ports of a service, and their places.
fn ports(spec: &Value) -> impl Iterator<Item = (usize, u64)> {
    let all = spec["ports"].as_array().into_iter().flatten();
    let numbers = all.map(|port| port["nodePort"].as_u64().unwrap_or_default());
    numbers.enumerate().filter(|(_, number)| *number != 0)
}

/// Which ports a service has on the nodes.
fn numbers(spec: &Value) -> BTreeSet<u64> {
    ports(spec).map(|(_, number)| number).collect()
}
