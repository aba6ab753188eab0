//! The lifecycle of nodes: bad conditions become taints, and pods of an unready node become unready.
//!
//! The rules are those of the node lifecycle controller of 1.36, but for heartbeats: nodes do not renew leases here, so that a
//! node is ready until a client sets its condition to another status.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use fakeserver_kinds::{conditions::PodCondition, core};
use fakeserver_server::{
    controllers::{
        cluster::{Actor, Cluster},
        controller::Controller,
        index::{Index, ObjectChange},
        queue::KeyQueue,
    },
    store::{ObjectKey, StoredObject},
    write::deletion::is_deleted,
};
use fakeserver_value::read::text;
use serde_json::{Value, json};

use super::{
    nodes::{NOT_READY, UNREACHABLE, UNSCHEDULABLE, ready_status},
    objects::{ReconciledKind, generation},
};

const NODE: ReconciledKind = ReconciledKind {
    kind: &core::node::KIND,
    name: "Node",
    api_version: "v1",
    component: "node-controller",
};
const POD: ReconciledKind = ReconciledKind {
    kind: &core::pod::KIND,
    name: "Pod",
    api_version: "v1",
    component: "node-controller",
};
const ACTOR: Actor = Actor::CONTROLLER_MANAGER;
/// The taints of conditions: the condition, the status that is bad, and the taint.
const PRESSURES: [(&str, &str, &str); 6] = [
    ("Ready", "False", NOT_READY),
    ("Ready", "Unknown", UNREACHABLE),
    (
        "MemoryPressure",
        "True",
        "node.kubernetes.io/memory-pressure",
    ),
    ("DiskPressure", "True", "node.kubernetes.io/disk-pressure"),
    ("PIDPressure", "True", "node.kubernetes.io/pid-pressure"),
    (
        "NetworkUnavailable",
        "True",
        "node.kubernetes.io/network-unavailable",
    ),
];

/// The controller of the life of nodes.
///
/// # Memory
///
/// An entry for each node, and the nodes that were deleted since the last look.
#[derive(Debug, Default)]
pub(super) struct NodeLifecycle {
    /// True for nodes that were ready at the last reconciliation.
    was_ready: BTreeMap<ObjectKey, bool>,
    /// The deleted nodes for which an event is still to be recorded.
    removed: BTreeMap<ObjectKey, Arc<StoredObject>>,
}

impl Controller for NodeLifecycle {
    fn name(&self) -> &'static str {
        "node lifecycle"
    }

    fn observe(&mut self, change: &ObjectChange<'_>, _index: &Index, due: &mut KeyQueue<'_>) {
        if !change.is_of(NODE.kind) {
            return;
        }
        let key = change.key();
        due.add(key.clone(), Duration::ZERO);
        if change.after.is_none() {
            self.was_ready.remove(key);
            if let Some((before, _)) = &change.before {
                self.removed.insert(key.clone(), Arc::clone(before));
            }
        }
    }

    fn reconcile(
        &mut self,
        cluster: &mut Cluster<'_, '_>,
        key: &ObjectKey,
        _due: &mut KeyQueue<'_>,
    ) {
        if let Some(removed) = self.removed.remove(key) {
            let name = key.name();
            let message = format!("Node {name} event: Removing Node {name} from Controller");
            cluster.event(&NODE, &removed.to_value(), "RemovingNode", &message);
        }
        let Some(node) = cluster.get(key).map(|stored| stored.to_value()) else {
            return;
        };
        if is_deleted(&node) {
            return;
        }
        let now = cluster.now_text();
        let wanted = taints(&node, &now);
        cluster.update(key, ACTOR, |node| set_taints(node, wanted));
        // A node without the condition has not reported yet, and is not lost.
        let is_ready = !matches!(ready_status(&node), "False" | "Unknown");
        let was_ready = self.was_ready.insert(key.clone(), is_ready);
        // `None` after a start of the server counts as a transition, so that pods of an unready node are marked once more.
        if !is_ready && was_ready != Some(false) {
            lose(cluster, &node, &now);
        } else if is_ready && was_ready == Some(false) {
            let kubelet = ReconciledKind {
                component: "kubelet",
                ..NODE
            };
            let message = format!("Node {} status is now: NodeReady", key.name());
            cluster.event(&kubelet, &node, "NodeReady", &message);
        }
    }
}

/// Returns the taints that a node is to have: those that others have set, and one for each thing that is wrong with it.
fn taints(node: &Value, now: &str) -> Vec<Value> {
    let conditions = node["status"]["conditions"].as_array();
    let is = |kind: &str, status: &str| {
        let mut all = conditions.into_iter().flatten();
        all.any(|condition| condition["type"] == kind && condition["status"] == status)
    };
    let mut wanted: Vec<(&str, &str)> = Vec::new();
    for (kind, status, taint) in PRESSURES {
        if is(kind, status) {
            wanted.push((taint, "NoSchedule"));
            if kind == "Ready" {
                // Only an unready node evicts its pods; pressure merely keeps new pods away.
                wanted.push((taint, "NoExecute"));
            }
        }
    }
    if node["spec"]["unschedulable"] == true {
        wanted.push((UNSCHEDULABLE, "NoSchedule"));
    }
    let is_own = |taint: &Value| {
        let (key, effect) = (text(&taint["key"]), text(&taint["effect"]));
        let executes = matches!(key, NOT_READY | UNREACHABLE) && effect == "NoExecute";
        let is_known = key == UNSCHEDULABLE || PRESSURES.iter().any(|(_, _, own)| *own == key);
        executes || (is_known && effect == "NoSchedule")
    };
    let present = node["spec"]["taints"].as_array();
    let mut all: Vec<Value> = present.cloned().unwrap_or_default();
    all.retain(|taint| {
        let names = (text(&taint["key"]), text(&taint["effect"]));
        // A taint that stays keeps its `timeAdded`, and taints of users are never touched.
        !is_own(taint) || wanted.contains(&names)
    });
    for (key, effect) in wanted {
        if !all
            .iter()
            .any(|taint| taint["key"] == key && taint["effect"] == effect)
        {
            all.push(json!({"key": key, "effect": effect, "timeAdded": now}));
        }
    }
    all
}

fn set_taints(node: &mut Value, taints: Vec<Value>) {
    if !taints.is_empty() {
        node["spec"]["taints"] = taints.into();
    } else if let Some(spec) = node["spec"].as_object_mut() {
        spec.remove("taints");
    }
}

/// Marks the pods of a node unready, and records events.
fn lose(cluster: &mut Cluster<'_, '_>, node: &Value, now: &str) {
    let name = text(&node["metadata"]["name"]);
    let message = format!("Node {name} status is now: NodeNotReady");
    cluster.event(&NODE, node, "NodeNotReady", &message);
    for pod in cluster.index.pods.on_node(name) {
        if !pod.is_ready {
            continue;
        }
        let changed = cluster.update(pod.key(), ACTOR.of_status(), |pod| {
            let condition = PodCondition {
                kind: "Ready",
                is_true: false,
                reason: "",
                message: "",
                observed_generation: generation(pod),
            };
            condition.set(&mut pod["status"], now);
        });
        if let Some(pod) = changed {
            let message = "Node is not ready";
            cluster.warning(&POD, &pod.to_value(), "NodeNotReady", message);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(node: &Value) -> Vec<String> {
        let of = |taint: &Value| format!("{}:{}", text(&taint["key"]), text(&taint["effect"]));
        taints(node, "now").iter().map(of).collect()
    }

    #[test]
    fn bad_node_conditions_become_taints() {
        let condition = |kind: &str, status: &str| json!({"type": kind, "status": status});
        let mut node = json!({
            "spec": {"taints": [
                {"key": "mine", "effect": "NoExecute"},
                {"key": NOT_READY, "effect": "NoExecute"},
                {"key": NOT_READY, "effect": "NoSchedule"},
            ]},
            "status": {"conditions": [condition("Ready", "True")]},
        });
        assert_eq!(keys(&node), ["mine:NoExecute"]);
        node["status"]["conditions"] = json!([
            condition("Ready", "Unknown"),
            condition("DiskPressure", "True")
        ]);
        node["spec"]["unschedulable"] = json!(true);
        assert_eq!(
            keys(&node),
            [
                "mine:NoExecute",
                "node.kubernetes.io/unreachable:NoSchedule",
                "node.kubernetes.io/unreachable:NoExecute",
                "node.kubernetes.io/disk-pressure:NoSchedule",
                "node.kubernetes.io/unschedulable:NoSchedule",
            ]
        );
    }
}
