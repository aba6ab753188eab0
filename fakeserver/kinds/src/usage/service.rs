//! The usage of services.

use fakeserver_value::{read::items, schema::Quantity};
use serde_json::Value;

use super::Amounts;

const ALL: &str = "services";
const NODE_PORTS: &str = "services.nodeports";
const LOAD_BALANCERS: &str = "services.loadbalancers";

pub(super) fn counts(name: &str) -> bool {
    matches!(name, ALL | NODE_PORTS | LOAD_BALANCERS)
}

/// Returns the usage of a service. The ports of nodes are counted before they are allocated.
pub(super) fn usage(service: &Value) -> Amounts {
    let spec = &service["spec"];
    let is_balanced = spec["type"] == "LoadBalancer";
    let node_ports = items(&spec["ports"]).iter().filter(|port| {
        spec["type"] == "NodePort"
            || is_balanced
                && (spec["allocateLoadBalancerNodePorts"] != false
                    || port["nodePort"].as_i64().unwrap_or_default() != 0)
    });
    let node_ports = i64::try_from(node_ports.count()).unwrap_or(i64::MAX);
    let usage = [
        (ALL, 1),
        (NODE_PORTS, node_ports),
        (LOAD_BALANCERS, i64::from(is_balanced)),
    ];
    let usage = usage.into_iter();
    usage
        .map(|(name, count)| (name, Quantity::from(count)))
        .collect()
}
