//! Needs of services: addresses and ports.

use fakeserver_value::{
    edit::is_unset,
    read::{items, text},
};
use serde_json::Value;

/// The addresses and ports that a service is given.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Needs {
    pub(super) address: bool,
    pub(super) node_ports: bool,
    pub(super) health_check: bool,
}

impl Needs {
    pub(super) fn of(spec: &Value) -> Self {
        let kind = text(&spec["type"]);
        let is_balancer = kind == "LoadBalancer";
        Self {
            address: matches!(kind, "ClusterIP" | "NodePort" | "LoadBalancer"),
            node_ports: kind == "NodePort"
                || (is_balancer && spec["allocateLoadBalancerNodePorts"] != false),
            health_check: is_balancer && spec["externalTrafficPolicy"] == "Local",
        }
    }

    /// Returns whether a service has all of it.
    pub(super) fn is_met(self, spec: &Value) -> bool {
        let ports = spec["ports"].as_array().into_iter().flatten();
        let count = |field: &str| items(&spec[field]).len();
        let is_headless = spec["clusterIP"] == "None";
        let has_addresses = is_headless || count("clusterIPs") >= count("ipFamilies");
        (!self.address || !is_unset(&spec["clusterIP"]) && has_addresses)
            && (!self.node_ports || ports.into_iter().all(|port| !is_zero(&port["nodePort"])))
            && (!self.health_check || !is_zero(&spec["healthCheckNodePort"]))
    }
}

pub(super) fn is_zero(number: &Value) -> bool {
    number.as_u64().unwrap_or_default() == 0
}
