//! The addresses of nodes and pods in each family.
//!
//! Nodes have addresses of `172.18.0.0/16` and `fd00:172:18::/112`, pods of `10.128.0.0/9` and `fd00:10:128::/48`. In a cluster
//! that has IPv6 each node has a part of the ranges of pods, and its pods have addresses of that. In a cluster of IPv4 alone pods
//! are numbered over all nodes.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use fakeserver_kinds::core::service::range::{AddressRange, IpFamily, ServiceRange};
use fakeserver_value::read::{items, text};
use serde_json::Value;

/// The number of parts of the range of pods of IPv4.
const PARTS: u32 = 1 << 15;
/// The number of addresses in such a part.
const PART: u32 = 256;

/// The addresses and ranges of a node, the primary family first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct NodeAddresses {
    /// The addresses by which pods on the node name it.
    pub(super) hosts: Vec<String>,
    /// The ranges of its pods.
    ranges: Vec<AddressRange>,
}

// === impl NodeAddresses ===

impl NodeAddresses {
    pub(super) fn of(node: &Value) -> Self {
        let ranges = items(&node["spec"]["podCIDRs"]).iter().map(text);
        Self {
            hosts: host_addresses(node),
            ranges: ranges.filter_map(AddressRange::parse).collect(),
        }
    }

    /// Returns the addresses of a pod on the node: those of a number that is free, after `last` first. `is_taken` says which
    /// addresses other pods have.
    ///
    /// Returns nothing if the node has no ranges, or no number is free.
    pub(super) fn pod(
        &self,
        last: u32,
        is_taken: impl Fn(&str) -> bool,
    ) -> Option<(u32, Vec<String>)> {
        let numbers = (1..PART).map(|step| (last + step) % PART);
        // The first and the last look like a net and a broadcast.
        let mut usual = numbers.filter(|number| !matches!(number, 0 | 255));
        usual.find_map(|number| {
            let all = self
                .ranges
                .iter()
                .filter_map(|range| range.address(number.into()));
            let all: Vec<String> = all.map(|address| address.to_string()).collect();
            let is_free = !all.is_empty() && !all.iter().any(|address| is_taken(address));
            is_free.then_some((number, all))
        })
    }
}

/// Returns whether nodes have ranges of pods.
pub(super) fn has_node_ranges(cluster: ServiceRange) -> bool {
    cluster.has(IpFamily::V6)
}

/// Returns the ranges of the pods of a node of that number.
pub(super) fn node_ranges(cluster: ServiceRange, number: u32) -> Vec<String> {
    let number = number % PARTS;
    let [_, _, high, low] = number.to_be_bytes();
    let range = |family| match family {
        IpFamily::V4 => format!("10.{}.{low}.0/24", 128 | high),
        IpFamily::V6 => {
            let part = u16::from_be_bytes([high, low]);
            format!(
                "{}/64",
                Ipv6Addr::new(0xfd00, 0x10, 0x128, part, 0, 0, 0, 0)
            )
        }
    };
    cluster.families().map(range).collect()
}

/// Returns the number of a node whose pods have that range, the first of several.
pub(super) fn number_of_range(range: &str) -> Option<u32> {
    match AddressRange::parse(range)?.address(0)? {
        IpAddr::V4(address) => {
            let [a, b, c, _] = address.octets();
            (a == 10 && b >= 128).then(|| u32::from_be_bytes([0, 0, b & 127, c]))
        }
        IpAddr::V6(address) => match address.segments() {
            [0xfd00, 0x10, 0x128, part, ..] => Some(part.into()),
            _ => None,
        },
    }
}

/// Returns the addresses of a node in the families of the cluster. They follow from that of IPv4.
pub(super) fn node_addresses(cluster: ServiceRange, address: Ipv4Addr) -> Vec<String> {
    let of_family = |family| match family {
        IpFamily::V4 => address.to_string(),
        IpFamily::V6 => {
            let [a, b, c, d] = address.octets();
            let [high, low] = [[a, b], [c, d]].map(u16::from_be_bytes);
            let net = if high == NET { 0 } else { high };
            Ipv6Addr::new(0xfd00, 0x172, 0x18, 0, 0, 0, net, low).to_string()
        }
    };
    cluster.families().map(of_family).collect()
}

/// The first two bytes of the addresses of nodes.
const NET: u16 = u16::from_be_bytes([172, 18]);

/// Returns the address of IPv4 from which the address of a node follows, if it is one of those.
pub(super) fn number_of_node(address: &str) -> Option<Ipv4Addr> {
    match address.parse().ok()? {
        IpAddr::V4(address) => Some(address),
        IpAddr::V6(address) => match address.segments() {
            [0xfd00, 0x172, 0x18, 0, 0, 0, net, low] => {
                let high = if net == 0 { NET } else { net };
                let bits = u32::from(high) << 16 | u32::from(low);
                Some(Ipv4Addr::from_bits(bits))
            }
            _ => None,
        },
    }
}

/// Returns the addresses by which pods on a node name it: the first of each family, internal ones before external ones.
#[doc(alias = "GetNodeHostIPs")]
fn host_addresses(node: &Value) -> Vec<String> {
    let all = items(&node["status"]["addresses"]);
    let of_kind = |kind: &'static str| {
        let found = all.iter().filter(move |address| address["type"] == kind);
        found.map(|address| text(&address["address"]))
    };
    let mut hosts: Vec<String> = Vec::new();
    let candidates = of_kind("InternalIP").chain(of_kind("ExternalIP"));
    for address in candidates.filter(|address| !address.is_empty()) {
        let family = IpFamily::of_text(address);
        if hosts.iter().all(|host| IpFamily::of_text(host) != family) {
            hosts.push(address.to_owned());
        }
    }
    hosts
}

/// Returns the address of a number in a family.
pub(super) fn address(family: IpFamily, number: u32) -> String {
    let [_, b, c, d] = number.to_be_bytes();
    match family {
        IpFamily::V4 => format!("10.{}.{c}.{d}", 128 | (b & 127)),
        IpFamily::V6 => {
            // Beside the ranges of nodes, which have fewer numbers.
            let [high, low] = [[0, b], [c, d]].map(u16::from_be_bytes);
            Ipv6Addr::new(0xfd00, 0x10, 0x128, 0xffff, 0, 0, high, low).to_string()
        }
    }
}

/// Returns the number of an address, if it is one of those that kubelets give out.
pub(super) fn address_number(address: &str) -> Option<u32> {
    match address.parse().ok()? {
        IpAddr::V4(address) => {
            let [a, b, c, d] = address.octets();
            (a == 10 && b >= 128).then(|| u32::from_be_bytes([0, b & 127, c, d]))
        }
        IpAddr::V6(address) => match address.segments() {
            [0xfd00, 0x10, 0x128, 0xffff, 0, 0, high, low] => {
                Some(u32::from(high) << 16 | u32::from(low))
            }
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_pod_names_its_node_by_an_internal_address_first() {
        let address = |kind: &str, text: &str| json!({"type": kind, "address": text});
        let external = address("ExternalIP", "203.0.113.7");
        let mut node = json!({"status": {"addresses": [address("Hostname", "n"), external]}});
        assert_eq!(host_addresses(&node), ["203.0.113.7"]);
        node["status"]["addresses"][0] = address("InternalIP", "10.9.8.7");
        assert_eq!(host_addresses(&node), ["10.9.8.7"]);
        node["status"]["addresses"][1] = address("InternalIP", "fd00::7");
        assert_eq!(host_addresses(&node), ["10.9.8.7", "fd00::7"]);
        assert_eq!(host_addresses(&json!({})), [""; 0]);
    }

    #[test]
    fn addresses_and_ranges_of_nodes_follow_from_a_number() {
        for (cluster, number, ranges, addresses) in [
            (
                "10.0.0.0/16,fd00::/112",
                0,
                ["10.128.0.0/24", "fd00:10:128::/64"],
                ["172.18.0.2", "fd00:172:18::2"],
            ),
            (
                "fd00::/112,10.0.0.0/16",
                258,
                ["fd00:10:128:102::/64", "10.129.2.0/24"],
                ["fd00:172:18::2", "172.18.0.2"],
            ),
        ] {
            let cluster: ServiceRange = cluster.parse().unwrap();
            assert_eq!(node_ranges(cluster, number), ranges);
            for range in ranges {
                assert_eq!(number_of_range(range), Some(number));
            }
            let address = Ipv4Addr::new(172, 18, 0, 2);
            assert_eq!(node_addresses(cluster, address), addresses);
            for text in addresses {
                assert_eq!(number_of_node(text), Some(address));
            }
        }
    }

    #[test]
    fn a_pod_gets_a_free_number_of_its_node_in_both_families() {
        let node = json!({"spec": {"podCIDRs": ["10.128.0.0/24", "fd00:10:128::/64"]}});
        let node = NodeAddresses::of(&node);
        let expected = ["10.128.0.1", "fd00:10:128::1"].map(str::to_owned).to_vec();
        assert_eq!(node.pod(0, |_| false), Some((1, expected)));
        let expected = ["10.128.0.2", "fd00:10:128::2"].map(str::to_owned).to_vec();
        let is_taken = |address: &str| address == "10.128.0.1";
        assert_eq!(node.pod(254, is_taken), Some((2, expected)));
        assert_eq!(node.pod(0, |_| true), None);
        assert_eq!(NodeAddresses::default().pod(0, |_| false), None);
    }
}
