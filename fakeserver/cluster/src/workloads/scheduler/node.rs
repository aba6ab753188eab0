//! Nodes, and the resources that the pods on them take.

use std::{collections::BTreeMap, sync::Arc};

use fakeserver_server::store::ObjectKey;
use fakeserver_value::{object::Pairs, read::text};
use serde_json::Value;

use super::{
    node_affinity::RequiredNodes,
    pod::PodInfo,
    ports::HostPort,
    resources::Resources,
    taints::{Taint, Toleration, repel},
};
use crate::workloads::objects::number;

/// A node, as far as it matters to who places pods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::workloads) struct Node {
    pub(in crate::workloads) name: Arc<str>,
    pub(super) labels: Pairs,
    pub(super) taints: Vec<Taint>,
    pub(super) is_unschedulable: bool,
    /// The resources that it offers; `None` if its status says none, so that only the number of pods is limited.
    pub(super) allocatable: Option<Resources>,
    /// The number of pods that fit on the node, if its status has one.
    pub(super) pods: Option<usize>,
}

/// A node with the pods on it.
#[derive(Clone, Debug)]
pub(super) struct NodeInfo {
    pub(super) node: Arc<Node>,
    pub(super) pods: BTreeMap<ObjectKey, Arc<PodInfo>>,
    pub(super) requested: Resources,
    /// Sorted; each as often as pods have it.
    pub(super) ports: Vec<HostPort>,
}

// === impl Node ===

impl Node {
    pub(in crate::workloads) fn of(node: &Value) -> Self {
        let (spec, status) = (&node["spec"], &node["status"]);
        let pods = &status["allocatable"]["pods"];
        let pods = text(pods).parse().ok();
        let pods = pods.or_else(|| {
            let count = number(&status["allocatable"]["pods"], -1);
            usize::try_from(count).ok()
        });
        let taints = spec["taints"].as_array().into_iter().flatten();
        let offers = status["allocatable"].is_object();
        Self {
            name: text(&node["metadata"]["name"]).into(),
            labels: pairs(&node["metadata"]["labels"]),
            taints: taints.map(Taint::of).collect(),
            is_unschedulable: spec["unschedulable"] == true,
            allocatable: offers.then(|| Resources::allocatable(status)),
            pods,
        }
    }

    /// Returns whether a pod of this specification may run here: labels, taints, and whether the node accepts pods.
    pub(in crate::workloads) fn accepts(&self, spec: &Value) -> bool {
        let tolerations = Toleration::all(spec);
        RequiredNodes::of(spec).include(self)
            && !self.is_closed_to(&tolerations)
            && !repel(&self.taints, &tolerations)
    }

    /// Returns whether a pod of this specification that is here may stay, though none may come: its labels, and taints that
    /// evict.
    pub(in crate::workloads) fn keeps(&self, spec: &Value) -> bool {
        let tolerations = Toleration::all(spec);
        let mut taints = self.taints.iter().filter(|taint| taint.evicts());
        RequiredNodes::of(spec).include(self)
            && taints.all(|taint| taint.is_tolerated(&tolerations))
    }

    /// Returns whether the node is cordoned, and that keeps a pod with these tolerations away.
    pub(super) fn is_closed_to(&self, tolerations: &[Toleration]) -> bool {
        self.is_unschedulable && !Taint::unschedulable().is_tolerated(tolerations)
    }
}

// === impl NodeInfo ===

impl NodeInfo {
    pub(super) fn new(node: Node) -> Self {
        Self {
            node: Arc::new(node),
            pods: BTreeMap::new(),
            requested: Resources::default(),
            ports: Vec::new(),
        }
    }

    pub(super) fn add(&mut self, pod: &Arc<PodInfo>) {
        self.requested.change(&pod.requests, true);
        self.ports.extend(pod.ports.iter().cloned());
        if !pod.ports.is_empty() {
            self.ports.sort_unstable();
        }
        self.pods.insert(pod.key.clone(), Arc::clone(pod));
    }

    pub(super) fn remove(&mut self, key: &ObjectKey) -> Option<Arc<PodInfo>> {
        let pod = self.pods.remove(key)?;
        self.requested.change(&pod.requests, false);
        for port in &pod.ports {
            if let Ok(at) = self.ports.binary_search(port) {
                self.ports.remove(at);
            }
        }
        Some(pod)
    }
}

/// Reads labels.
pub(super) fn pairs(labels: &Value) -> Pairs {
    let labels = labels.as_object().into_iter().flatten();
    labels
        .map(|(name, value)| (name.as_str(), text(value)))
        .collect()
}
