//! Ports of nodes that pods take.
//!
//! Upstream: the plugin `NodePorts`.

use fakeserver_value::read::text;
use serde_json::Value;

use crate::workloads::objects::number;

pub(super) const TAKEN: &str = "node(s) didn't have free ports for the requested pod ports";
/// All addresses of a node.
const ANY: &str = "0.0.0.0";

/// A port of a node, at one of its addresses or at all.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct HostPort {
    port: i64,
    protocol: String,
    address: String,
}

// === impl HostPort ===

impl HostPort {
    /// Reads the ports that the containers of a pod take for as long as it runs.
    pub(super) fn all(spec: &Value) -> Vec<Self> {
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let sidecars = list(&spec["initContainers"]).into_iter();
        let sidecars = sidecars.filter(|container| container["restartPolicy"] == "Always");
        let containers = list(&spec["containers"]).into_iter().chain(sidecars);
        let ports = containers.flat_map(|container| list(&container["ports"]));
        let or = |value: &Value, default: &str| match text(value) {
            "" => default.to_owned(),
            text => text.to_owned(),
        };
        let read = |port: Value| Self {
            port: number(&port["hostPort"], 0),
            protocol: or(&port["protocol"], "TCP"),
            address: or(&port["hostIP"], ANY),
        };
        ports.map(read).filter(|port| port.port > 0).collect()
    }

    /// Returns whether two pods cannot have these ports on one node.
    pub(super) fn conflicts(&self, other: &Self) -> bool {
        let is_shared =
            self.address == other.address || self.address == ANY || other.address == ANY;
        (self.port, &self.protocol) == (other.port, &other.protocol) && is_shared
    }
}
