//! Nodes: created for a cluster without any, and kept ready.

use std::time::Duration;

use serde_json::{Value, json};

use super::objects::{has_condition, text};
use crate::{
    controllers::{
        Workloads,
        cluster::{Actor, Cluster},
        controller::Controller,
        index::{Index, Observed},
        queue::Due,
    },
    kinds::core,
    store::ObjectKey,
};

const KUBELET: Actor = Actor::new("kubelet");
/// The key under which the nodes of an empty cluster are looked after. No node can have that name.
const ALL: &str = "";
/// The taint of a node that is not ready.
pub(super) const NOT_READY: &str = "node.kubernetes.io/not-ready";
/// The taint of a node that nobody hears of.
pub(super) const UNREACHABLE: &str = "node.kubernetes.io/unreachable";
/// The taint of a node that is cordoned.
pub(super) const UNSCHEDULABLE: &str = "node.kubernetes.io/unschedulable";
/// The label of a node with the components of a cluster, and the taint of one that takes no others.
pub(super) const CONTROL_PLANE: &str = "node-role.kubernetes.io/control-plane";

/// Registers nodes, and reports their status.
#[derive(Debug)]
pub(super) struct NodeMaker {
    options: Workloads,
    count: usize,
}

// === impl NodeMaker ===

impl NodeMaker {
    pub(super) fn new(options: Workloads) -> Self {
        Self { options, count: 0 }
    }

    fn make(&self, cluster: &mut Cluster<'_, '_>) {
        for number in 0..self.options.node_count {
            let name = format!("node-{number}");
            let mut node = json!({
                "metadata": {
                    "name": name,
                    "labels": {
                        "kubernetes.io/arch": "amd64",
                        "kubernetes.io/hostname": name,
                        "kubernetes.io/os": "linux",
                    },
                },
                "spec": {},
            });
            if self.options.has_system_pods && number == 0 {
                node["metadata"]["labels"][CONTROL_PLANE] = json!("");
            }
            cluster.create(core::node::KIND.storage(), KUBELET, node);
        }
    }
}

impl Controller for NodeMaker {
    fn name(&self) -> &'static str {
        "nodes"
    }

    fn started(&mut self, due: &mut Due<'_>) {
        if self.count == 0 {
            due.add(
                ObjectKey::cluster(core::node::KIND.storage().clone(), ALL),
                Duration::ZERO,
            );
        }
    }

    fn observe(&mut self, change: &Observed<'_>, _index: &Index, due: &mut Due<'_>) {
        if !change.is_of(&core::node::KIND) {
            return;
        }
        match (&change.before, &change.after) {
            (None, Some(_)) => {
                self.count += 1;
                due.add(change.key().clone(), Duration::ZERO);
            }
            (Some(_), None) => self.count = self.count.saturating_sub(1),
            _ => {}
        }
    }

    fn reconcile(&mut self, cluster: &mut Cluster<'_, '_>, key: &ObjectKey, _due: &mut Due<'_>) {
        if key.name() == ALL {
            if self.count == 0 {
                self.make(cluster);
            }
            return;
        }
        let now = cluster.now_text();
        let pods = self.options.pods_per_node;
        cluster.update(key, KUBELET.of_status(), |node| {
            if !has_condition(&node["status"], "Ready") {
                report(node, pods, &now);
            }
        });
    }
}

/// The resources of a node that does not say what it has.
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
fn report(node: &mut Value, pods: u32, now: &str) {
    let name = node["metadata"]["name"].clone();
    let status = &mut node["status"];
    let sizes = sizes(pods);
    for field in ["capacity", "allocatable"] {
        if status[field].is_null() {
            status[field] = sizes.clone();
        }
    }
    if status["addresses"].is_null() {
        status["addresses"] = json!([
            {"type": "InternalIP", "address": "10.0.0.1"},
            {"type": "Hostname", "address": name},
        ]);
    }
    if status["nodeInfo"].is_null() || text(&status["nodeInfo"]["kubeletVersion"]).is_empty() {
        status["nodeInfo"] = json!({
            "architecture": "amd64",
            "bootID": "",
            "containerRuntimeVersion": "fake://1",
            "kernelVersion": "fake",
            "kubeProxyVersion": "",
            "kubeletVersion": "v1.36.2",
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

/// Returns the status of the condition that says whether a node is ready; empty without one.
pub(super) fn ready_status(node: &Value) -> &str {
    let conditions = node["status"]["conditions"].as_array();
    let mut conditions = conditions.into_iter().flatten();
    let ready = conditions.find(|condition| condition["type"] == "Ready");
    ready.map_or("", |ready| text(&ready["status"]))
}
