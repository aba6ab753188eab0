//! The allocator of addresses and node ports.

use std::{collections::BTreeSet, net::IpAddr};

use fakeserver_value::{
    edit::is_unset,
    read::{items, text},
    status::FieldError,
};
use serde_json::{Value, json};

use crate::addresses::parse_ip;

use super::{
    families::{families, stays_as_preferred},
    needs::{Needs, is_zero},
    range::{AddressRange, IpFamily, ServiceRange},
};

/// The first node port of services, and the number of ports.
const FIRST_NODE_PORT: u64 = 30_000;

const NODE_PORTS: u64 = 2_768;

/// The reason why an allocation fails.
pub enum Problem {
    Refused(FieldError),
    /// All of these are taken.
    Full(&'static str),
}

/// Names of addresses and node ports in messages.
const ADDRESSES: &str = "a serviceIP";
const PORTS: &str = "a nodePort";

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
    /// `cidrs` are the objects that have ranges, `others` all other services. A family of the `cluster` that no object has a
    /// range of has that of the cluster. Which address and port are tried first follows from `seed`.
    ///
    /// With `is_strict`, requested addresses and ports have to be free.
    pub fn new(
        cluster: ServiceRange,
        cidrs: impl Iterator<Item = Value>,
        others: impl Iterator<Item = Value>,
        seed: u64,
        is_strict: bool,
    ) -> Self {
        let mut ranges: Vec<AddressRange> = cidrs.flat_map(|cidr| ranges_of(&cidr)).collect();
        for range in cluster.ranges() {
            if ranges.iter().all(|it| it.family() != range.family()) {
                ranges.push(range);
            }
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
            || had.is_some_and(|had| is_upgrade(had, &service["spec"]))
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
        match old.map(|old| &old["spec"]).filter(|_| had.address) {
            Some(old) if is_upgrade(old, spec) => self.set_addresses(spec, 1)?,
            None if needs.address => self.set_addresses(spec, 0)?,
            _ => {}
        }
        if needs.node_ports {
            self.set_node_ports(old, spec)?;
        }
        if needs.health_check && is_zero(&spec["healthCheckNodePort"]) {
            spec["healthCheckNodePort"] = json!(self.free_port(&numbers(spec))?);
        }
        Ok(())
    }

    /// Sets the addresses of all families from the one at `first` on.
    fn set_addresses(&self, spec: &mut Value, first: usize) -> Result<(), Problem> {
        let mut addresses = items(&spec["clusterIPs"]).to_vec();
        if addresses.first().is_some_and(|address| address == "None") {
            return Ok(());
        }
        let families = families(spec);
        while addresses.len() < families.len() {
            addresses.push(json!(""));
        }
        for (place, family) in families.into_iter().enumerate().skip(first) {
            let requested = text(&addresses[place]).to_owned();
            if !is_unset(&addresses[place]) {
                self.check_address(&requested, &addresses)?;
            } else if let Some(free) = self.free_address(family) {
                addresses[place] = json!(free.to_string());
            } else if self.is_strict {
                return Err(Problem::Full(ADDRESSES));
            }
        }
        addresses.retain(|address| !is_unset(address));
        if let Some(address) = addresses.first() {
            spec["clusterIP"] = address.clone();
            spec["clusterIPs"] = addresses.into();
        }
        Ok(())
    }

    /// Checks that an address is free, which is one of `all` that a service requests.
    fn check_address(&self, requested: &str, all: &[Value]) -> Result<(), Problem> {
        let Some(address) = parse_ip(requested).filter(|_| self.is_strict) else {
            return Ok(());
        };
        let Some(problem) = self.problem(address) else {
            return Ok(());
        };
        Err(Problem::Refused(FieldError::invalid(
            "spec.clusterIPs",
            &json!(all),
            &format!("failed to allocate IP {requested}: {problem}"),
        )))
    }

    fn problem(&self, address: IpAddr) -> Option<String> {
        let mut ranges = self.ranges.iter().filter(|range| range.contains(address));
        let Some(range) = ranges.next() else {
            return Some("the provided network does not match the current range".to_owned());
        };
        if !range.allocates(address) {
            return Some(format!(
                "the provided IP ({address}) is not in the valid range. The range of valid IPs is {range}"
            ));
        }
        let is_taken = self.taken.addresses.contains(&address);
        is_taken.then(|| "provided IP is already allocated".to_owned())
    }

    fn free_address(&self, family: IpFamily) -> Option<IpAddr> {
        let ranges = self.ranges.iter();
        let mut all = ranges
            .filter(|range| range.family() == family)
            .flat_map(|range| range.addresses(self.seed));
        all.find(|address| !self.taken.addresses.contains(address))
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
        free.next().ok_or(Problem::Full(PORTS))
    }
}

/// Returns the ranges of an object that is not going away.
fn ranges_of(cidr: &Value) -> Vec<AddressRange> {
    let is_leaving = !cidr["metadata"]["deletionTimestamp"].is_null();
    let ranges = cidr["spec"]["cidrs"].as_array().filter(|_| !is_leaving);
    let ranges = ranges.into_iter().flatten().filter_map(Value::as_str);
    ranges.filter_map(AddressRange::parse).collect()
}

/// Returns whether a service of one family becomes one of two.
fn is_upgrade(old: &Value, spec: &Value) -> bool {
    let count = |spec: &Value| items(&spec["ipFamilies"]).len();
    !stays_as_preferred(old, spec) && count(old) == 1 && count(spec) == 2
}

/// The addresses of a service that are any.
fn addresses(spec: &Value) -> impl Iterator<Item = IpAddr> {
    let all = spec["clusterIPs"].as_array().into_iter().flatten();
    all.filter_map(|address| parse_ip(address.as_str()?))
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
