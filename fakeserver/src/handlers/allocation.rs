//! Which addresses and ports a service gets, and which it may ask for.
//!
//! A real server keeps a bitmap or an object for each; here the services themselves tell what is taken.

use std::{collections::BTreeSet, net::IpAddr};

use serde_json::{Value, json};

use super::{Call, attempt::Attempt, write::Source};
use crate::{
    status::{FieldError, Status},
    storage::GroupResource,
};

/// Addresses of services are within `10.96.0.0/12`: `10`, and then one of so many numbers from here.
const FIRST_NET: u64 = 96;
const NETS: u64 = 16;
/// Where the ports begin that nodes open for services, and how many there are.
const FIRST_NODE_PORT: u64 = 30_000;
const NODE_PORTS: u64 = 2_768;

/// Gives a service what it needs and does not have: addresses, ports on nodes, a port for health checks.
///
/// What it asks for has to be free, unless it comes from another cluster's dump. `old` is what an update replaces, of which
/// everything that it still needs is in `service` already.
pub(super) fn allocate(
    call: &Call<'_>,
    tx: &Attempt<'_, '_>,
    old: Option<&Value>,
    service: &mut Value,
    source: Source,
) -> Result<(), Status> {
    if (&*call.resource.group, &*call.resource.plural) != ("", "services")
        || !call.subresource().is_empty()
    {
        return Ok(());
    }
    let needs = Needs::of(&service["spec"]);
    let had = Needs::of(old.map_or(&Value::Null, |old| &old["spec"]));
    if needs == had && needs.is_met(&service["spec"]) && !asks_for_ports(old, service) {
        return Ok(());
    }
    let name = service["metadata"]["name"].as_str().unwrap_or_default();
    let own = call.key(name);
    let others = tx.list(&GroupResource::new("", "services"), None);
    let others = others.iter().filter(|other| other.key() != &own);
    let allocator = Allocator {
        taken: Taken::by(others.map(|other| other.to_value())),
        // They follow from its uid: what is random about one is random about all.
        seed: seed(&service["metadata"]["uid"]),
        is_strict: source != Source::Loaded,
    };
    let name = name.to_owned();
    let spec = &mut service["spec"];
    let allocated = allocator.fill(needs, had, old, spec);
    allocated.map_err(|problem| match problem {
        Problem::Refused(error) => call.invalid(&name, &[error]),
        Problem::Full => Status::internal("failed to allocate a nodePort: range is full"),
    })
}

/// Whether a service asks for ports that it did not have.
fn asks_for_ports(old: Option<&Value>, service: &Value) -> bool {
    let had = old.map(|old| numbers(&old["spec"])).unwrap_or_default();
    !numbers(&service["spec"]).is_subset(&had)
}

// === Needs ===

/// What a service of its type has.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Needs {
    address: bool,
    node_ports: bool,
    health_check: bool,
}

impl Needs {
    fn of(spec: &Value) -> Self {
        let kind = spec["type"].as_str().unwrap_or_default();
        let is_balancer = kind == "LoadBalancer";
        Self {
            address: matches!(kind, "ClusterIP" | "NodePort" | "LoadBalancer"),
            node_ports: kind == "NodePort"
                || (is_balancer && spec["allocateLoadBalancerNodePorts"] != false),
            health_check: is_balancer && spec["externalTrafficPolicy"] == "Local",
        }
    }

    fn is_met(self, spec: &Value) -> bool {
        let ports = spec["ports"].as_array().into_iter().flatten();
        (!self.address || !is_unset(&spec["clusterIP"]))
            && (!self.node_ports || ports.into_iter().all(|port| !is_zero(&port["nodePort"])))
            && (!self.health_check || !is_zero(&spec["healthCheckNodePort"]))
    }
}

// === Allocator ===

/// Why a service does not get what it needs.
enum Problem {
    Refused(FieldError),
    /// All ports are taken.
    Full,
}

struct Allocator {
    taken: Taken,
    seed: u64,
    /// Whether what is asked for has to be free.
    is_strict: bool,
}

/// What other services have.
#[derive(Debug, Default)]
struct Taken {
    addresses: BTreeSet<IpAddr>,
    ports: BTreeSet<u64>,
}

impl Taken {
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
    fn fill(
        &self,
        needs: Needs,
        had: Needs,
        old: Option<&Value>,
        spec: &mut Value,
    ) -> Result<(), Problem> {
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
        if is_unset(&spec["ipFamilies"]) {
            spec["ipFamilies"] = json!([family]);
        }
        if is_unset(&spec["ipFamilyPolicy"]) {
            spec["ipFamilyPolicy"] = json!("SingleStack");
        }
        let asked = addresses(spec).find_map(|address| Some((address, self.problem(address)?)));
        match asked {
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
            IpAddr::V4(address) => {
                let [first, second, ..] = address.octets();
                first == 10 && (FIRST_NET..FIRST_NET + NETS).contains(&second.into())
            }
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
        let [_, .., third, fourth] = self.seed.to_be_bytes();
        let net = (self.seed >> 16) % NETS;
        let start = (net << 16) | u64::from(third) << 8 | u64::from(fourth);
        let all = NETS << 16;
        let numbers = (0..all).map(|step| (start + step) % all);
        // The first and the last of each block of 256 are left out: the one looks like a net, the other like a broadcast.
        let texts = numbers.filter(|number| !matches!(number & 0xff, 0 | 0xff));
        let mut texts = texts.map(|number| {
            let (net, third, fourth) = (
                FIRST_NET + (number >> 16),
                number >> 8 & 0xff,
                number & 0xff,
            );
            format!("10.{net}.{third}.{fourth}")
        });
        let is_free = |text: &String| match text.parse() {
            Ok(address) => !self.taken.addresses.contains(&address),
            Err(_) => false,
        };
        texts.find(is_free).unwrap_or_default()
    }

    /// Ports of one number, one for each protocol, have one port on the nodes.
    fn set_node_ports(&self, old: Option<&Value>, spec: &mut Value) -> Result<(), Problem> {
        let had = old.map(|old| numbers(&old["spec"])).unwrap_or_default();
        let asked = ports(spec).filter(|(_, number)| self.is_strict && !had.contains(number));
        for (at, number) in asked {
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

/// The addresses of a service that are any.
fn addresses(spec: &Value) -> impl Iterator<Item = IpAddr> {
    let all = spec["clusterIPs"].as_array().into_iter().flatten();
    all.filter_map(|address| address.as_str()?.parse().ok())
}

/// Where a service has ports on the nodes, and which.
fn ports(spec: &Value) -> impl Iterator<Item = (usize, u64)> {
    let all = spec["ports"].as_array().into_iter().flatten();
    let numbers = all.map(|port| port["nodePort"].as_u64().unwrap_or_default());
    numbers.enumerate().filter(|(_, number)| *number != 0)
}

/// Which ports a service has on the nodes.
fn numbers(spec: &Value) -> BTreeSet<u64> {
    ports(spec).map(|(_, number)| number).collect()
}

fn is_unset(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

fn is_zero(number: &Value) -> bool {
    number.as_u64().unwrap_or_default() == 0
}

/// A number that differs between objects, and not between runs.
fn seed(uid: &Value) -> u64 {
    let digits = uid.as_str().unwrap_or_default().replace('-', "");
    u64::from_str_radix(digits.get(..16).unwrap_or_default(), 16).unwrap_or_default()
}
