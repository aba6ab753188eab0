//! Topology spread constraints.
//!
//! Upstream: the plugin `PodTopologySpread`. The default constraints of a cluster, which only prefer, are left out: pods go
//! to the nodes with the fewest pods anyway.

use std::{collections::BTreeMap, sync::Arc};

use fakeserver_value::{
    object::Pairs,
    read::{items, text},
};
use serde_json::Value;

use super::{
    groups::Groups,
    node::Node,
    pod::{PodInfo, UnscheduledPod},
    rejection::Rejection,
    selection::Selection,
    taints::repel,
};
use crate::workloads::objects::number;

const SKEWED: &str = "node(s) didn't match pod topology spread constraints";
const UNLABELLED: &str =
    "node(s) didn't match pod topology spread constraints (missing required label)";

/// A constraint: the numbers of selected pods in the domains of a label differ by `max_skew` at most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Constraint {
    max_skew: i64,
    min_domains: usize,
    pub(super) topology_key: String,
    selection: Selection,
    /// True if nodes that the pod may not run on by their labels do not count.
    honors_affinity: bool,
    /// True if nodes that the pod may not run on by their taints do not count.
    honors_taints: bool,
}

/// The numbers of selected pods in the domains of each constraint of a pod.
#[derive(Clone, Debug, Default)]
pub(super) struct SpreadState(Vec<DomainCounts>);

#[derive(Clone, Debug, Default)]
struct DomainCounts {
    domains: BTreeMap<String, i64>,
    least: i64,
}

// === impl Constraint ===

impl Constraint {
    /// Reads the constraints of a pod with these labels: those that must hold, and those that should.
    pub(super) fn all(spec: &Value, labels: &Pairs) -> (Vec<Self>, Vec<Self>) {
        let (mut strict, mut loose) = (Vec::new(), Vec::new());
        for constraint in items(&spec["topologySpreadConstraints"]) {
            let read = Self {
                max_skew: number(&constraint["maxSkew"], 1),
                min_domains: usize::try_from(number(&constraint["minDomains"], 1)).unwrap_or(1),
                topology_key: text(&constraint["topologyKey"]).to_owned(),
                selection: Selection::of_term(constraint, labels),
                honors_affinity: constraint["nodeAffinityPolicy"] != "Ignore",
                honors_taints: constraint["nodeTaintsPolicy"] == "Honor",
            };
            if constraint["whenUnsatisfiable"] == "ScheduleAnyway" {
                loose.push(read);
            } else {
                strict.push(read);
            }
        }
        (strict, loose)
    }

    /// Returns whether a node is one of those that the pod is spread over.
    fn includes(&self, pod: &UnscheduledPod, node: &Node) -> bool {
        (!self.honors_affinity || pod.nodes.include(node))
            && !(self.honors_taints && repel(&node.taints, &pod.tolerations))
    }

    /// Returns the number of selected pods in the domain of a node.
    pub(super) fn near<'a>(
        &self,
        counted: &'a BTreeMap<String, i64>,
        node: &'a Node,
    ) -> Option<i64> {
        let value = node.labels.get(&self.topology_key)?;
        Some(counted.get(value).copied().unwrap_or_default())
    }

    /// Counts the pods of the pod's namespace that it selects. A domain without any is counted, too.
    pub(super) fn count<'a>(
        &self,
        pod: &UnscheduledPod,
        nodes: impl Iterator<Item = &'a Node>,
        groups: &Groups,
    ) -> BTreeMap<String, i64> {
        let mut domains = BTreeMap::new();
        let mut included: BTreeMap<&str, &str> = BTreeMap::new();
        for node in nodes.filter(|node| self.includes(pod, node)) {
            if let Some(value) = node.labels.get(&self.topology_key) {
                domains.entry(value.to_owned()).or_insert(0);
                included.insert(&node.name, value);
            }
        }
        // As upstream, an empty selector counts no pod.
        if self.selection.is_everything() {
            return domains;
        }
        let namespace = pod.info.namespace();
        let selects = |labels: &Pairs| self.selection.matches(labels);
        for (_, group) in groups.matching(|near| near == namespace, selects) {
            for (node, count) in group {
                let domain = included
                    .get(&**node)
                    .and_then(|value| domains.get_mut(*value));
                if let Some(total) = domain {
                    *total += count.staying();
                }
            }
        }
        domains
    }
}

// === impl SpreadState ===

impl SpreadState {
    pub(super) fn of<'a>(
        pod: &UnscheduledPod,
        nodes: impl Iterator<Item = &'a Arc<Node>>,
        groups: &Groups,
    ) -> Self {
        if pod.spread.is_empty() {
            return Self::default();
        }
        // Only nodes with the labels of all constraints count.
        let has_all = |node: &&Node| {
            let mut constraints = pod.spread.iter();
            constraints.all(|constraint| node.labels.get(&constraint.topology_key).is_some())
        };
        let nodes: Vec<&Node> = nodes.map(|node| &**node).filter(has_all).collect();
        let counted = pod.spread.iter().map(|constraint| {
            let domains = constraint.count(pod, nodes.iter().copied(), groups);
            let mut counted = DomainCounts { domains, least: 0 };
            counted.find_least(constraint);
            counted
        });
        Self(counted.collect())
    }

    /// Adds a pod on a node, or takes it away.
    pub(super) fn change(&mut self, pod: &UnscheduledPod, other: &PodInfo, node: &Node, by: i64) {
        let is_near = other.namespace() == pod.info.namespace() && !other.is_deleted;
        for (constraint, counted) in pod.spread.iter().zip(&mut self.0) {
            let is_counted = is_near
                && !constraint.selection.is_everything()
                && constraint.selection.matches(&other.labels)
                && constraint.includes(pod, node);
            let value = node.labels.get(&constraint.topology_key);
            let domain = value.and_then(|value| counted.domains.get_mut(value));
            if let Some(count) = domain.filter(|_| is_counted) {
                *count += by;
                counted.find_least(constraint);
            }
        }
    }

    pub(super) fn reject(&self, pod: &UnscheduledPod, node: &Node) -> Option<Rejection> {
        for (constraint, counted) in pod.spread.iter().zip(&self.0) {
            let Some(near) = constraint.near(&counted.domains, node) else {
                return Some(Rejection::for_good(UNLABELLED));
            };
            let own = i64::from(constraint.selection.matches(&pod.info.labels));
            if near + own - counted.least > constraint.max_skew {
                return Some(Rejection::for_now(SKEWED));
            }
        }
        None
    }
}

// === impl DomainCounts ===

impl DomainCounts {
    /// Finds the least number of pods in a domain; 0 if there are fewer domains than `minDomains`.
    fn find_least(&mut self, constraint: &Constraint) {
        let least = self.domains.values().min().copied();
        let has_enough = self.domains.len() >= constraint.min_domains;
        self.least = least.filter(|_| has_enough).unwrap_or_default();
    }
}
