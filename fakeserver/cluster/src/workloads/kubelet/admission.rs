//! The admission of pods to their nodes: a pod for which its node has no room fails, and never runs.

use std::collections::BTreeMap;

use fakeserver_kinds::core;
use fakeserver_server::{
    controllers::correlation::EventText,
    controllers::{cluster::Cluster, pods::Pod},
    store::ObjectKey,
};
use serde_json::{Value, json};

use super::{ACTOR, Kubelet, POD};
use crate::workloads::{
    objects::generation,
    scheduler::{AdmissionFailure, Node, PodLoad, admission_failure},
};

/// The conditions that a kubelet reports, of which a rejected pod has none.
const REPORTED: [&str; 5] = [
    "ContainersReady",
    "Initialized",
    "PodReadyToStartContainers",
    "PodScheduled",
    "Ready",
];

/// The load of a pod, and its uid and generation at that time.
#[derive(Debug)]
pub(super) struct CachedLoad {
    uid: String,
    generation: i64,
    load: PodLoad,
}

// === impl Kubelet ===

impl Kubelet {
    /// Rejects a pod that its node does not admit, and returns whether it has.
    pub(super) fn rejects(
        &mut self,
        cluster: &mut Cluster<'_, '_>,
        pod: &Pod,
        value: &Value,
        now: &str,
    ) -> bool {
        let key = ObjectKey::cluster(core::node::KIND.storage().clone(), &pod.node);
        let Some(node) = cluster.get(&key) else {
            return false;
        };
        let node = Node::of(&node.to_value());
        self.update_loads(cluster, pod);
        let loads = self.loads.get(&pod.node).into_iter().flatten();
        let loads = loads.map(|(_, cached)| &cached.load);
        let limit = usize::try_from(self.options.pods_per_node).unwrap_or(usize::MAX);
        let Some(failure) = admission_failure(&node, value, loads, limit) else {
            return false;
        };
        let AdmissionFailure { reason, message } = &failure;
        cluster.update(pod.key(), ACTOR.of_status(), |pod| {
            reject(pod, &failure, now);
        });
        let event = EventText::warning(reason, message);
        cluster.correlated_event(&mut self.events, &POD, value, &event);
        true
    }

    /// Brings the loads of the pods up to date that the node of a pod has admitted before it. Only changed pods are parsed.
    fn update_loads(&mut self, cluster: &Cluster<'_, '_>, pod: &Pod) {
        let mut before = self.loads.remove(&pod.node).unwrap_or_default();
        let all = cluster.index.pods.on_node(&pod.node).into_iter();
        let others = all.filter(|other| other.key() != pod.key() && !other.started.is_empty());
        let loads: BTreeMap<ObjectKey, CachedLoad> = others
            .map(|other| {
                let is_current = |cached: &CachedLoad| {
                    (&*cached.uid, cached.generation) == (other.stored.uid(), other.generation)
                };
                let cached = before.remove(other.key()).filter(is_current);
                let cached = cached.unwrap_or_else(|| CachedLoad {
                    uid: other.stored.uid().to_owned(),
                    generation: other.generation,
                    load: PodLoad::of(&other.stored.to_value()),
                });
                (other.key().clone(), cached)
            })
            .collect();
        self.loads.insert(pod.node.clone(), loads);
    }
}

/// Writes the status of a rejected pod.
fn reject(pod: &mut Value, failure: &AdmissionFailure, now: &str) {
    let generation = generation(pod);
    let status = &mut pod["status"];
    status["phase"] = json!("Failed");
    status["reason"] = json!(failure.reason);
    status["message"] = json!(format!("Pod was rejected: {}", failure.message));
    status["startTime"] = json!(now);
    if let Some(generation) = generation {
        status["observedGeneration"] = json!(generation);
    }
    if let Some(conditions) = status["conditions"].as_array_mut() {
        conditions.retain(|it| !REPORTED.iter().any(|kind| it["type"] == *kind));
    }
}
