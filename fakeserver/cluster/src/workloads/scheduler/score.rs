//! The preferences of a pod, and of nodes, as a number for each node.
//!
//! Upstream normalizes the scores of each plugin over the nodes that pass. Here the weights of terms are added, so that a
//! score does not depend on other nodes.

use std::collections::BTreeMap;

use super::{cycle::Cycle, node::Node, pod_affinity::Domains, spread::Constraint};

/// The weight of a taint that a pod should keep away from.
const TAINT: i64 = 300;
/// The weight of a pod that is in the same domain, though pods should be spread over domains.
const SPREAD: i64 = 2;

/// The scores of nodes for one pod.
pub(super) struct Scores<'a, 'c> {
    cycle: &'c Cycle<'a>,
    /// The pods near which the pod should be, or should not, with their weight.
    pods: Vec<(i64, &'c str, Domains)>,
    spread: Vec<(&'c Constraint, BTreeMap<String, i64>)>,
}

// === impl Scores ===

impl<'a, 'c> Scores<'a, 'c> {
    /// Returns nothing if all nodes are the same to the pod.
    pub(super) fn of(cycle: &'c Cycle<'a>) -> Option<Self> {
        let (snapshot, preferences) = (cycle.snapshot, &cycle.pod.preferences);
        if preferences.is_empty() && !snapshot.discourages() {
            return None;
        }
        let node = |name: &str| snapshot.node(name).map(|info| info.node.clone());
        let pods = preferences.pods.iter().map(|(weight, term)| {
            let near = term.count(&snapshot.groups, &node, &cycle.namespaces);
            (*weight, term.topology_key.as_str(), near)
        });
        let spread = preferences.spread.iter().map(|constraint| {
            let nodes = snapshot.nodes().map(|info| &*info.node);
            let counted = constraint.count(cycle.pod, nodes, &snapshot.groups);
            (constraint, counted)
        });
        Some(Self {
            cycle,
            pods: pods.collect(),
            spread: spread.collect(),
        })
    }

    pub(super) fn of_node(&self, node: &Node) -> i64 {
        let pod = self.cycle.pod;
        let nodes = pod.preferences.nodes.iter();
        let nodes = nodes.filter(|(_, term)| term.matches(&node.name, &node.labels));
        let nodes: i64 = nodes.map(|(weight, _)| weight).sum();
        let pods = self.pods.iter().filter(|(_, key, near)| {
            let value = node.labels.get(key);
            value.is_some_and(|value| near.contains_key(&((*key).to_owned(), value.to_owned())))
        });
        let pods: i64 = pods.map(|(weight, ..)| weight).sum();
        let spread = self.spread.iter();
        let spread = spread.filter_map(|(constraint, counted)| constraint.near(counted, node));
        let crowd: i64 = spread.sum();
        let taints = node.taints.iter().filter(|taint| taint.is_preference());
        let taints = taints.filter(|taint| !taint.is_tolerated(&pod.tolerations));
        let taints = i64::try_from(taints.count()).unwrap_or(i64::MAX);
        nodes + pods - SPREAD * crowd - TAINT.saturating_mul(taints)
    }
}
