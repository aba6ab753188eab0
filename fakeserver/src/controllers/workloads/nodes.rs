//! Nodes: created for a cluster without any, and kept ready.

use std::time::Duration;

use serde_json::{Value, json};

use super::objects::{has_condition, number, text};
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

/// Registers nodes, and reports their status.
#[derive(Debug)]
pub(super) struct NodeMaker {
    options: Workloads,
    count: usize,
}

/// A node, as far as it matters to who places pods.
#[derive(Clone, Debug, Default)]
pub(super) struct Node {
    pub(super) name: String,
    pub(super) labels: Value,
    pub(super) taints: Vec<Value>,
    pub(super) is_unschedulable: bool,
    /// The number of pods that fit on it, if its status says so.
    pub(super) pods: Option<usize>,
}

// === impl NodeMaker ===

impl NodeMaker {
    pub(super) fn new(options: Workloads) -> Self {
        Self { options, count: 0 }
    }

    fn make(&self, cluster: &mut Cluster<'_, '_>) {
        for number in 0..self.options.node_count {
            let name = format!("node-{number}");
            let node = json!({
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

/// Writes the status of a node that runs pods. What it says already stays.
fn report(node: &mut Value, pods: u32, now: &str) {
    let name = node["metadata"]["name"].clone();
    let status = &mut node["status"];
    let sizes = json!({"cpu": "8", "memory": "32Gi", "pods": pods.to_string()});
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

// === impl Node ===

impl Node {
    pub(super) fn of(node: &Value) -> Self {
        let pods = &node["status"]["allocatable"]["pods"];
        let pods = text(pods).parse().ok();
        let pods = pods.or_else(|| {
            let count = number(&node["status"]["allocatable"]["pods"], -1);
            usize::try_from(count).ok()
        });
        Self {
            name: text(&node["metadata"]["name"]).to_owned(),
            labels: node["metadata"]["labels"].clone(),
            taints: node["spec"]["taints"]
                .as_array()
                .cloned()
                .unwrap_or_default(),
            is_unschedulable: node["spec"]["unschedulable"] == true,
            pods,
        }
    }

    /// Returns whether a pod of this specification may run here: labels, taints, and whether the node accepts pods.
    pub(super) fn accepts(&self, spec: &Value) -> bool {
        let selects = spec["nodeSelector"].as_object();
        let has_labels = selects
            .into_iter()
            .flatten()
            .all(|(label, value)| self.labels[label] == *value);
        let terms = &spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
            ["nodeSelectorTerms"];
        let has_affinity = terms.as_array().is_none_or(|terms| {
            terms.iter().any(|term| {
                let fields = term["matchFields"].as_array().into_iter().flatten();
                let labels = term["matchExpressions"].as_array().into_iter().flatten();
                fields
                    .map(|field| (field, Some(self.name.as_str())))
                    .chain(labels.map(|label| (label, self.labels[text(&label["key"])].as_str())))
                    .all(|(requirement, value)| meets(requirement, value))
            })
        });
        let unschedulable = json!({"key": UNSCHEDULABLE, "effect": "NoSchedule"});
        let own = self.is_unschedulable.then_some(&unschedulable);
        let mut taints = self.taints.iter().chain(own);
        has_labels && has_affinity && taints.all(|taint| tolerates(spec, taint))
    }
}

/// Returns whether a label or a field meets a requirement of an affinity.
fn meets(requirement: &Value, value: Option<&str>) -> bool {
    let values = requirement["values"].as_array();
    let is_listed = value.is_some_and(|value| {
        let mut values = values.into_iter().flatten();
        values.any(|listed| listed == value)
    });
    match text(&requirement["operator"]) {
        "In" => is_listed,
        "NotIn" => !is_listed,
        "Exists" => value.is_some(),
        "DoesNotExist" => value.is_none(),
        operator => {
            let number = |text: &str| text.parse::<i64>().ok();
            let bound = values.and_then(|values| number(text(values.first()?)));
            match (value.and_then(number), bound) {
                (Some(value), Some(bound)) if operator == "Gt" => value > bound,
                (Some(value), Some(bound)) if operator == "Lt" => value < bound,
                _ => false,
            }
        }
    }
}

/// Returns whether a pod of this specification may run on a node with that taint.
fn tolerates(spec: &Value, taint: &Value) -> bool {
    if taint["effect"] == "PreferNoSchedule" {
        return true;
    }
    let tolerations = spec["tolerations"].as_array();
    let mut tolerations = tolerations.into_iter().flatten();
    tolerations.any(|toleration| is_tolerated_by(toleration, taint))
}

/// Returns whether a toleration is one of that taint.
pub(super) fn is_tolerated_by(toleration: &Value, taint: &Value) -> bool {
    let is_same = |field: &str| {
        let own = text(&toleration[field]);
        own.is_empty() || own == text(&taint[field])
    };
    let exists = toleration["operator"] == "Exists";
    is_same("key")
        && is_same("effect")
        && (exists || text(&toleration["value"]) == text(&taint["value"]))
}

/// Returns the status of the condition that says whether a node is ready; empty without one.
pub(super) fn ready_status(node: &Value) -> &str {
    let conditions = node["status"]["conditions"].as_array();
    let mut conditions = conditions.into_iter().flatten();
    let ready = conditions.find(|condition| condition["type"] == "Ready");
    ready.map_or("", |ready| text(&ready["status"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_takes_those_that_select_and_tolerate_it() {
        let mut node = Node::of(&json!({
            "metadata": {"name": "n", "labels": {"disk": "ssd", "cores": "8"}},
            "status": {"allocatable": {"pods": "3"}},
        }));
        assert_eq!(node.pods, Some(3));
        let affinity = |term: Value| {
            json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
                {"nodeSelectorTerms": [term]}}}})
        };
        let label = |key: &str, operator: &str, values: Value| {
            affinity(
                json!({"matchExpressions": [{"key": key, "operator": operator, "values": values}]}),
            )
        };
        let named = |name: &str| {
            affinity(json!({"matchFields":
                [{"key": "metadata.name", "operator": "In", "values": [name]}]}))
        };
        for (spec, is_accepted) in [
            (json!({}), true),
            (json!({"nodeSelector": {"disk": "ssd"}}), true),
            (json!({"nodeSelector": {"disk": "hdd"}}), false),
            (label("disk", "In", json!(["ssd"])), true),
            (label("disk", "NotIn", json!(["ssd"])), false),
            (label("gpu", "DoesNotExist", json!(null)), true),
            (label("cores", "Gt", json!(["4"])), true),
            (label("cores", "Lt", json!(["4"])), false),
            (named("n"), true),
            (named("other"), false),
        ] {
            assert_eq!(node.accepts(&spec), is_accepted, "{spec}");
        }
        node.taints = vec![json!({"key": "k", "value": "v", "effect": "NoSchedule"})];
        node.is_unschedulable = true;
        let tolerations = |list: Value| json!({"tolerations": list});
        let cordon = json!({"key": UNSCHEDULABLE, "operator": "Exists"});
        let equal = json!({"key": "k", "value": "v", "effect": "NoSchedule"});
        let other = json!({"key": "k", "value": "w"});
        assert!(!node.accepts(&json!({})));
        assert!(!node.accepts(&tolerations(json!([equal]))));
        assert!(!node.accepts(&tolerations(json!([other, cordon]))));
        assert!(node.accepts(&tolerations(json!([equal, cordon]))));
        assert!(node.accepts(&tolerations(json!([{"operator": "Exists"}]))));
    }
}
