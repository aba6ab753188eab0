//! Nodes: created for a cluster without any, and registered with labels, addresses and a status.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::Ipv4Addr,
    time::Duration,
};

use fakeserver_kinds::{
    conditions,
    core::{self, node::address},
    resource_names::is_extended,
};
use fakeserver_server::{
    controllers::{
        cluster::{Actor, Cluster},
        controller::Controller,
        index::{Index, ObjectChange},
        queue::KeyQueue,
    },
    store::ObjectKey,
};
use fakeserver_value::read::text;
use fakeserver_versions::KubernetesVersion;
use serde_json::{Value, json};

use super::{
    node_addresses::{
        has_node_ranges, node_addresses, node_ranges, number_of_node, number_of_range,
    },
    objects::ReconciledKind,
};
use crate::workloads::Workloads;

const KUBELET: Actor = Actor::new("kubelet");
/// The kind that events of kubelets about nodes are about.
const NODE: ReconciledKind = ReconciledKind {
    kind: &core::node::KIND,
    name: "Node",
    api_version: "v1",
    component: "kubelet",
};
/// The first address of nodes that have none, in a range that neither services nor pods have by default.
const FIRST_ADDRESS: Ipv4Addr = Ipv4Addr::new(172, 18, 0, 2);
/// The key under which the nodes of an empty cluster are looked after. No node can have that name.
const ALL: &str = "";
/// The taint of a node that is not ready.
pub(super) const NOT_READY: &str = "node.kubernetes.io/not-ready";
/// The taint of a node whose status is unknown.
pub(super) const UNREACHABLE: &str = "node.kubernetes.io/unreachable";
/// The taint of a node that is cordoned.
pub(super) const UNSCHEDULABLE: &str = "node.kubernetes.io/unschedulable";
/// The label of a node with the components of a cluster, and the taint of one that takes no others.
pub(super) const CONTROL_PLANE: &str = "node-role.kubernetes.io/control-plane";

/// Registers nodes, and reports their status.
///
/// # Memory
///
/// Two entries for each node.
#[derive(Debug)]
pub(super) struct NodeRegistrar {
    options: Workloads,
    /// The nodes that are there, and their internal addresses of version 4, or what those of version 6 follow from.
    nodes: BTreeMap<String, Option<Ipv4Addr>>,
    /// The numbers of the ranges of their pods, of those that have one.
    ranges: BTreeMap<String, u32>,
    /// The address that is tried first for the next node without one.
    next_address: Ipv4Addr,
    /// The extended resources whose capacity has changed, by node, until they are allocatable.
    extended: BTreeMap<ObjectKey, BTreeSet<String>>,
}

// === impl NodeRegistrar ===

impl NodeRegistrar {
    pub(super) fn new(options: Workloads) -> Self {
        Self {
            options,
            nodes: BTreeMap::new(),
            ranges: BTreeMap::new(),
            next_address: FIRST_ADDRESS,
            extended: BTreeMap::new(),
        }
    }

    /// Returns an address that no node has.
    fn free_address(&mut self) -> Ipv4Addr {
        let is_taken = |address| self.nodes.values().any(|other| *other == Some(address));
        let mut address = self.next_address;
        while is_taken(address) {
            address = following(address);
        }
        self.next_address = following(address);
        address
    }

    /// Sets the ranges of the pods of a node without any, in a cluster whose nodes have some.
    fn set_ranges(&mut self, cluster: &mut Cluster<'_, '_>, key: &ObjectKey) {
        let services = cluster.backend.service_range();
        if !has_node_ranges(services) || self.ranges.contains_key(key.name()) {
            return;
        }
        let taken: BTreeSet<u32> = self.ranges.values().copied().collect();
        let mut numbers = 0..=u32::MAX;
        let free = numbers.find(|number| !taken.contains(number));
        let ranges = node_ranges(services, free.unwrap_or_default());
        cluster.update(key, Actor::CONTROLLER_MANAGER, |node| {
            if text(&node["spec"]["podCIDR"]).is_empty() {
                node["spec"]["podCIDR"] = json!(ranges[0]);
                node["spec"]["podCIDRs"] = json!(ranges);
            }
        });
    }

    /// Registers a node without a status as its kubelet does when it starts.
    fn register(&mut self, cluster: &mut Cluster<'_, '_>, key: &ObjectKey) {
        let now = cluster.now_text();
        let pods = self.options.pods_per_node;
        let kubernetes = cluster.kubernetes();
        cluster.update(key, KUBELET, set_labels);
        self.set_ranges(cluster, key);
        let current = self.nodes.get(key.name()).copied().flatten();
        let address = current.unwrap_or_else(|| self.free_address());
        let addresses = node_addresses(cluster.backend.service_range(), address);
        let registered = cluster.update(key, KUBELET.of_status(), |node| {
            report(node, kubernetes, pods, &addresses, &now);
        });
        let Some(node) = registered.map(|stored| stored.to_value()) else {
            return;
        };
        cluster.event(&NODE, &node, "Starting", "Starting kubelet.");
        let name = key.name();
        let message = format!("Node {name} status is now: NodeReady");
        cluster.event(&NODE, &node, "NodeReady", &message);
        let controller = ReconciledKind {
            component: "node-controller",
            ..NODE
        };
        let message = format!("Node {name} event: Registered Node {name} in Controller");
        cluster.event(&controller, &node, "RegisteredNode", &message);
    }

    fn make(&self, cluster: &mut Cluster<'_, '_>) {
        for number in 0..self.options.node_count {
            let name = format!("node-{number}");
            let mut node = json!({"metadata": {"name": name}, "spec": {}});
            set_labels(&mut node);
            if self.options.has_system_pods && number == 0 {
                node["metadata"]["labels"][CONTROL_PLANE] = json!("");
            }
            cluster.create(core::node::KIND.storage(), KUBELET, node);
        }
    }
}

impl Controller for NodeRegistrar {
    fn name(&self) -> &'static str {
        "nodes"
    }

    fn started(&mut self, due: &mut KeyQueue<'_>) {
        if self.nodes.is_empty() {
            due.add(
                ObjectKey::cluster(core::node::KIND.storage().clone(), ALL),
                Duration::ZERO,
            );
        }
    }

    fn observe(&mut self, change: &ObjectChange<'_>, _index: &Index, due: &mut KeyQueue<'_>) {
        if !change.is_of(&core::node::KIND) {
            return;
        }
        let name = change.key().name();
        let Some((after, _)) = &change.after else {
            self.nodes.remove(name);
            self.ranges.remove(name);
            self.extended.remove(change.key());
            return;
        };
        let node = after.to_value();
        let before = change.before.as_ref().map(|(node, _)| node.to_value());
        let changed = changed_extended(before.as_ref().unwrap_or(&Value::Null), &node);
        if !changed.is_empty() {
            let pending = self.extended.entry(change.key().clone()).or_default();
            pending.extend(changed);
            due.add(change.key().clone(), Duration::ZERO);
        }
        if let Some(range) = number_of_range(text(&node["spec"]["podCIDR"])) {
            self.ranges.insert(name.to_owned(), range);
        }
        let address = number_of_node(internal_address(&node));
        self.nodes.insert(name.to_owned(), address);
        if change.before.is_none() {
            due.add(change.key().clone(), Duration::ZERO);
        }
    }

    fn reconcile(
        &mut self,
        cluster: &mut Cluster<'_, '_>,
        key: &ObjectKey,
        _due: &mut KeyQueue<'_>,
    ) {
        if key.name() == ALL {
            // Asked again: nodes may have come since the start.
            if self.nodes.is_empty() {
                self.make(cluster);
            }
            return;
        }
        let node = cluster.get(key).map(|stored| stored.to_value());
        // A node that a client has marked unready stays unready.
        if node.is_some_and(|node| ready_status(&node).is_empty()) {
            self.register(cluster, key);
        }
        if let Some(names) = self.extended.remove(key) {
            cluster.update(key, KUBELET.of_status(), |node| {
                allocate(&mut node["status"], &names);
            });
        }
    }
}

/// Returns the extended resources whose capacity has changed, while what is allocatable of them has not.
fn changed_extended(before: &Value, after: &Value) -> BTreeSet<String> {
    let [before, after] = [before, after].map(|node| &node["status"]);
    let sides = [before, after].into_iter();
    let names = sides.flat_map(|status| status["capacity"].as_object().into_iter().flatten());
    names
        .map(|(name, _)| name)
        .filter(|name| is_extended(name))
        .filter(|name| {
            let differs = |field: &str| before[field].get(name) != after[field].get(name);
            differs("capacity") && !differs("allocatable")
        })
        .cloned()
        .collect()
}

/// Makes the whole capacity of these resources allocatable, as kubelets report it: nothing of them is reserved.
fn allocate(status: &mut Value, names: &BTreeSet<String>) {
    for name in names {
        let capacity = status["capacity"].get(name).cloned();
        let Some(allocatable) = status["allocatable"].as_object_mut() else {
            return;
        };
        match capacity {
            Some(capacity) => allocatable.insert(name.clone(), capacity),
            None => allocatable.remove(name),
        };
    }
}

/// Returns the address after another one, leaving out those that no machine has: the first and the last of 256.
fn following(address: Ipv4Addr) -> Ipv4Addr {
    let next = Ipv4Addr::from_bits(address.to_bits().wrapping_add(1));
    match next.octets() {
        [_, _, _, 0 | 255] => following(next),
        _ => next,
    }
}

/// Sets the labels that a node has from its kubelet, unless it has them.
fn set_labels(node: &mut Value) {
    let name = node["metadata"]["name"].clone();
    let labels = &mut node["metadata"]["labels"];
    for (label, value) in [
        ("kubernetes.io/arch", json!("amd64")),
        ("kubernetes.io/hostname", name),
        ("kubernetes.io/os", json!("linux")),
    ] {
        if labels[label].is_null() {
            labels[label] = value;
        }
    }
}

/// The default resources of a node.
fn sizes(pods: u32) -> Value {
    json!({
        "cpu": "8",
        "ephemeral-storage": "100Gi",
        "hugepages-1Gi": "0",
        "hugepages-2Mi": "0",
        "memory": "32Gi",
        "pods": pods.to_string(),
    })
}

/// Writes the status of a node that runs pods. What it says already stays.
fn report(
    node: &mut Value,
    kubernetes: KubernetesVersion,
    pods: u32,
    addresses: &[String],
    now: &str,
) {
    let name = node["metadata"]["name"].clone();
    let status = &mut node["status"];
    let sizes = sizes(pods);
    for field in ["capacity", "allocatable"] {
        if status[field].is_null() {
            status[field] = sizes.clone();
        }
    }
    if status["addresses"].is_null() {
        let internal = addresses.iter();
        status["addresses"] = internal
            .map(|address| json!({"type": "InternalIP", "address": address}))
            .chain([json!({"type": "Hostname", "address": name})])
            .collect();
    }
    if status["nodeInfo"].is_null() || text(&status["nodeInfo"]["kubeletVersion"]).is_empty() {
        status["nodeInfo"] = json!({
            "architecture": "amd64",
            "bootID": "",
            "containerRuntimeVersion": "fake://1",
            "kernelVersion": "fake",
            "kubeProxyVersion": "",
            "kubeletVersion": kubernetes.git_version(),
            "machineID": "",
            "operatingSystem": "linux",
            "osImage": "fake",
            "systemUUID": "",
        });
    }
    let condition = |kind: &str, truth: &str, reason: &str, message: &str| {
        json!({
            "type": kind,
            "status": truth,
            "lastHeartbeatTime": now,
            "lastTransitionTime": now,
            "reason": reason,
            "message": message,
        })
    };
    status["conditions"] = json!([
        condition(
            "MemoryPressure",
            "False",
            "KubeletHasSufficientMemory",
            "kubelet has sufficient memory available",
        ),
        condition(
            "DiskPressure",
            "False",
            "KubeletHasNoDiskPressure",
            "kubelet has no disk pressure",
        ),
        condition(
            "PIDPressure",
            "False",
            "KubeletHasSufficientPID",
            "kubelet has sufficient PID available",
        ),
        condition(
            "Ready",
            "True",
            "KubeletReady",
            "kubelet is posting ready status"
        ),
    ]);
}

fn internal_address(node: &Value) -> &str {
    address(node, "InternalIP").unwrap_or_default()
}

/// Returns the status of the condition that says whether a node is ready; empty without one.
pub(super) fn ready_status(node: &Value) -> &str {
    let ready = conditions::find(&node["status"], "Ready");
    ready.map_or("", |ready| text(&ready["status"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_node_has_an_address_of_its_own() {
        let mut nodes = NodeRegistrar::new(Workloads::default());
        let taken = Ipv4Addr::new(172, 18, 0, 3);
        nodes.nodes.insert("loaded".to_owned(), Some(taken));
        let given = [0; 300].map(|_| nodes.free_address());
        let distinct: std::collections::BTreeSet<Ipv4Addr> = given.into_iter().collect();
        assert_eq!(distinct.len(), given.len());
        assert_eq!(given[0], FIRST_ADDRESS);
        assert!(!distinct.contains(&taken));
        assert!(given.iter().all(|it| !matches!(it.octets()[3], 0 | 255)));
    }

    #[test]
    fn allocatable_follows_the_capacity_of_extended_resources() {
        let node = |capacity: Value, allocatable: Value| json!({"status": {"capacity": capacity, "allocatable": allocatable}});
        let cpu = || json!({"cpu": "8"});
        let gpu = |count: &str| json!({"cpu": "8", "example.com/gpu": count});
        for (before, mut after, expected) in [
            (node(cpu(), cpu()), node(gpu("2"), cpu()), gpu("2")),
            (Value::Null, node(gpu("2"), cpu()), gpu("2")),
            (node(gpu("2"), gpu("2")), node(gpu("3"), gpu("2")), gpu("3")),
            (node(gpu("2"), gpu("2")), node(cpu(), gpu("2")), cpu()),
            // Unhealthy devices, as a client has written them.
            (node(cpu(), cpu()), node(gpu("4"), gpu("3")), gpu("3")),
            (node(cpu(), cpu()), node(json!({"cpu": "16"}), cpu()), cpu()),
        ] {
            let changed = changed_extended(&before, &after);
            allocate(&mut after["status"], &changed);
            assert_eq!(after["status"]["allocatable"], expected, "{before} {after}");
        }
    }

    #[test]
    fn labels_that_a_node_has_stay() {
        let mut node = json!({"metadata": {
            "name": "n",
            "labels": {"kubernetes.io/arch": "arm64", "zone": "a"},
        }});
        set_labels(&mut node);
        let labels = json!({
            "kubernetes.io/arch": "arm64",
            "kubernetes.io/hostname": "n",
            "kubernetes.io/os": "linux",
            "zone": "a",
        });
        assert_eq!(node["metadata"]["labels"], labels);
    }
}
