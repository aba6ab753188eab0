//! The checks of a kubelet before it runs a pod: whether its node has room for it, and may run it.
//!
//! Upstream: `AdmissionCheck` of `pkg/scheduler`, and `pkg/kubelet/lifecycle`. A critical pod does not end others for its room.

use fakeserver_kinds::resource_names::is_extended;
use serde_json::Value;

use super::{
    node::Node,
    node_affinity::{RequiredNodes, UNMATCHED},
    ports::{HostPort, TAKEN},
    resources::Resources,
    taints::{Toleration, UNTOLERATED},
};

/// The order in which lacking resources are reported; others come after them.
const FIRST: [&str; 3] = ["cpu", "memory", "ephemeral-storage"];
/// The annotation of a pod that its kubelet has from a file.
const MIRROR: &str = "kubernetes.io/config.mirror";

/// The resources and the ports that a pod takes of its node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::workloads) struct PodLoad {
    requests: Resources,
    ports: Vec<HostPort>,
}

/// The reason and the message with which a kubelet rejects a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::workloads) struct AdmissionFailure {
    pub(in crate::workloads) reason: String,
    pub(in crate::workloads) message: String,
}

// === impl PodLoad ===

impl PodLoad {
    pub(in crate::workloads) fn of(pod: &Value) -> Self {
        Self {
            requests: Resources::requested(pod),
            ports: HostPort::all(&pod["spec"]),
        }
    }
}

/// Returns why a node does not admit a pod beside the pods with these loads. `limit` is the number of pods on a node that does
/// not say it.
pub(in crate::workloads) fn admission_failure<'a>(
    node: &Node,
    pod: &Value,
    others: impl Iterator<Item = &'a PodLoad>,
    limit: usize,
) -> Option<AdmissionFailure> {
    let load = PodLoad::of(pod);
    let (mut used, mut ports, mut count) = (Resources::default(), Vec::new(), 0);
    for other in others {
        used.change(&other.requests, true);
        ports.extend(&other.ports);
        count += 1;
    }
    let limit = node.pods.unwrap_or(limit);
    if count >= limit {
        return Some(AdmissionFailure::lack("pods", [1, count, limit]));
    }
    if let Some(offered) = &node.allocatable
        && let Some(failure) = lacking(&load.requests, &used, offered)
    {
        return Some(failure);
    }
    let spec = &pod["spec"];
    if !RequiredNodes::of(spec).include(node) {
        return Some(AdmissionFailure::predicate("NodeAffinity", UNMATCHED));
    }
    let is_taken = |port: &HostPort| ports.iter().any(|taken| port.conflicts(taken));
    if load.ports.iter().any(is_taken) {
        return Some(AdmissionFailure::predicate("NodePorts", TAKEN));
    }
    let tolerations = Toleration::all(spec);
    let mut taints = node.taints.iter().filter(|taint| taint.evicts());
    let is_static = !pod["metadata"]["annotations"][MIRROR].is_null();
    (!is_static && taints.any(|taint| !taint.is_tolerated(&tolerations)))
        .then(|| AdmissionFailure::predicate("TaintToleration", UNTOLERATED))
}

/// Returns the first resource of which a node has too little.
fn lacking(
    requests: &Resources,
    used: &Resources,
    offered: &Resources,
) -> Option<AdmissionFailure> {
    let rest = requests.iter().map(|(name, _)| name);
    let mut names = FIRST
        .into_iter()
        .chain(rest.filter(|name| !FIRST.contains(name)));
    names.find_map(|name| {
        let [wanted, taken, there] = [requests, used, offered].map(|amounts| amounts.get(name));
        // Extended resources that the node does not have are those of the cluster, or of devices of claims.
        let is_elsewhere = there == 0 && is_extended(name);
        (wanted > there.saturating_sub(taken) && wanted > 0 && !is_elsewhere)
            .then(|| AdmissionFailure::lack(name, [wanted, taken, there]))
    })
}

// === impl AdmissionFailure ===

impl AdmissionFailure {
    fn lack<N: std::fmt::Display>(name: &str, [requested, used, capacity]: [N; 3]) -> Self {
        Self {
            reason: format!("OutOf{name}"),
            message: format!(
                "Node didn't have enough resource: {name}, requested: {requested}, used: {used}, capacity: {capacity}"
            ),
        }
    }

    fn predicate(name: &str, why: &str) -> Self {
        Self {
            reason: name.to_owned(),
            message: format!("Predicate {name} failed: {why}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pod(requests: &Value, port: i64) -> Value {
        json!({"metadata": {"name": "p"}, "spec": {"containers": [{
            "name": "c",
            "resources": {"requests": requests},
            "ports": [{"containerPort": 80, "hostPort": port}],
        }]}})
    }

    fn check(node: &Value, pod: &Value, others: &[Value]) -> String {
        let others: Vec<PodLoad> = others.iter().map(PodLoad::of).collect();
        let failure = admission_failure(&Node::of(node), pod, others.iter(), 110);
        failure.map_or(String::new(), |it| format!("{}: {}", it.reason, it.message))
    }

    #[test]
    fn a_node_admits_what_it_has_room_for() {
        let node = json!({
            "metadata": {"name": "n", "labels": {"zone": "a"}},
            "status": {"allocatable": {"cpu": "2", "memory": "1Gi", "pods": "3"}},
        });
        let one = pod(&json!({"cpu": "1500m"}), 80);
        assert_eq!(check(&node, &one, &[]), "");
        assert_eq!(
            check(
                &node,
                &pod(&json!({"cpu": "1", "memory": "2Gi"}), 0),
                std::slice::from_ref(&one)
            ),
            "OutOfcpu: Node didn't have enough resource: cpu, requested: 1000, used: 1500, capacity: 2000"
        );
        assert_eq!(
            check(&node, &pod(&json!({"memory": "2Gi"}), 0), &[]),
            "OutOfmemory: Node didn't have enough resource: memory, requested: 2147483648, used: 0, capacity: 1073741824"
        );
        assert_eq!(
            check(&node, &pod(&json!({}), 80), std::slice::from_ref(&one)),
            "NodePorts: Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports"
        );
        let small = pod(&json!({}), 0);
        assert_eq!(
            check(
                &node,
                &small,
                &[small.clone(), small.clone(), small.clone()]
            ),
            "OutOfpods: Node didn't have enough resource: pods, requested: 1, used: 3, capacity: 3"
        );
        // Not of this node, but of the cluster.
        assert_eq!(
            check(&node, &pod(&json!({"example.com/license": "1"}), 0), &[]),
            ""
        );
        // A node that says nothing about resources takes any.
        let silent = json!({"metadata": {"name": "n"}, "status": {}});
        assert_eq!(check(&silent, &pod(&json!({"cpu": "99"}), 0), &[]), "");
    }

    #[test]
    fn a_node_admits_pods_that_may_run_there() {
        let mut node = json!({"metadata": {"name": "n", "labels": {"zone": "a"}}});
        let mut elsewhere = pod(&json!({}), 0);
        elsewhere["spec"]["nodeSelector"] = json!({"zone": "b"});
        assert_eq!(
            check(&node, &elsewhere, &[]),
            "NodeAffinity: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector"
        );
        node["spec"]["taints"] = json!([
            {"key": "a", "effect": "NoSchedule"},
            {"key": "b", "effect": "NoExecute"},
        ]);
        let mut tolerant = pod(&json!({}), 0);
        assert_eq!(
            check(&node, &tolerant, &[]),
            "TaintToleration: Predicate TaintToleration failed: node(s) had untolerated taint(s)"
        );
        let mut mirrored = tolerant.clone();
        mirrored["metadata"]["annotations"] = json!({MIRROR: "x"});
        assert_eq!(check(&node, &mirrored, &[]), "");
        tolerant["spec"]["tolerations"] = json!([{"key": "b", "operator": "Exists"}]);
        assert_eq!(check(&node, &tolerant, &[]), "");
    }
}
