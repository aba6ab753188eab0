//! Affinity and anti-affinity between pods.
//!
//! Upstream: the plugin `InterPodAffinity`.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

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
};

const AFFINITY: &str = "node(s) didn't match pod affinity rules";
const ANTI_AFFINITY: &str = "node(s) didn't match pod anti-affinity rules";
pub(super) const EXISTING: &str = "node(s) didn't satisfy existing pods anti-affinity rules";

/// The pods that a term is about, and the label of nodes that says which of these are near each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AffinityTerm {
    namespaces: BTreeSet<String>,
    namespace_selection: Selection,
    selection: Selection,
    pub(super) topology_key: String,
    /// Its text, by which equal terms are found.
    text: String,
}

/// The labels of namespaces, by name.
pub(super) type Namespaces = BTreeMap<String, Pairs>;

/// The numbers of pods by the domain they are in: the key and the value of a label of their nodes.
pub(super) type Domains = BTreeMap<(String, String), i64>;

/// The required terms of the pods on nodes that keep others away, with the domains of those pods.
#[derive(Clone, Debug, Default)]
pub(super) struct AntiAffinities(BTreeMap<String, (Arc<AffinityTerm>, BTreeMap<String, usize>)>);

/// The pods that matter to the terms of a pod, by domain.
#[derive(Clone, Debug, Default)]
pub(super) struct AffinityState {
    /// Pods whose anti-affinity is about the pod.
    existing: Domains,
    /// Pods that all terms of the pod's affinity are about.
    affinity: Domains,
    /// Pods that terms of its anti-affinity are about.
    anti_affinity: Domains,
}

// === impl AffinityTerm ===

impl AffinityTerm {
    /// Reads a term of a pod in that namespace with these labels.
    pub(super) fn of(term: &Value, namespace: &str, labels: &Pairs) -> Self {
        let mut namespaces: BTreeSet<String> = items(&term["namespaces"])
            .iter()
            .map(|name| text(name).to_owned())
            .collect();
        let selector = &term["namespaceSelector"];
        if namespaces.is_empty() && selector.is_null() {
            namespaces.insert(namespace.to_owned());
        }
        let selection = Selection::of_term(term, labels);
        Self {
            text: format!(
                "{namespaces:?} {selector} {selection:?} {}",
                term["topologyKey"]
            ),
            namespaces,
            namespace_selection: Selection::of(selector),
            selection,
            topology_key: text(&term["topologyKey"]).to_owned(),
        }
    }

    fn is_about(&self, namespace: &str, labels: &Pairs, namespaces: &Namespaces) -> bool {
        self.covers(namespace, namespaces) && self.selection.matches(labels)
    }

    /// Returns whether it is about pods of a namespace.
    fn covers(&self, namespace: &str, namespaces: &Namespaces) -> bool {
        if self.namespaces.contains(namespace) || self.namespace_selection.is_everything() {
            return true;
        }
        let none = Pairs::default();
        let labels = namespaces.get(namespace).unwrap_or(&none);
        self.namespace_selection.matches(labels)
    }

    /// Returns whether it needs to know the labels of namespaces.
    pub(super) fn selects_namespaces(&self) -> bool {
        !(self.namespace_selection.is_nothing() || self.namespace_selection.is_everything())
    }

    fn is_about_pod(&self, pod: &PodInfo, namespaces: &Namespaces) -> bool {
        self.is_about(pod.namespace(), &pod.labels, namespaces)
    }

    /// Counts the pods on nodes that it is about, in `domains`.
    pub(super) fn count(
        &self,
        groups: &Groups,
        nodes: &impl Fn(&str) -> Option<Arc<Node>>,
        namespaces: &Namespaces,
    ) -> Domains {
        let mut domains = Domains::new();
        let near = |namespace: &str| self.covers(namespace, namespaces);
        for (_, group) in groups.matching(near, |labels| self.selection.matches(labels)) {
            for (name, count) in group {
                if let Some(node) = nodes(name) {
                    change(&mut domains, &node, &self.topology_key, count.all());
                }
            }
        }
        domains
    }
}

// === impl AntiAffinities ===

impl AntiAffinities {
    /// Adds the terms of a pod on a node, or takes them away.
    pub(super) fn change(&mut self, pod: &PodInfo, node: &Node, is_added: bool) {
        for term in &pod.anti_affinity {
            let Some(value) = node.labels.get(&term.topology_key) else {
                continue;
            };
            let (_, domains) = self
                .0
                .entry(term.text.clone())
                .or_insert_with(|| (Arc::clone(term), BTreeMap::new()));
            let count = domains.entry(value.to_owned()).or_default();
            *count = if is_added {
                *count + 1
            } else {
                count.saturating_sub(1)
            };
            if *count == 0 {
                domains.remove(value);
            }
            if domains.is_empty() {
                self.0.remove(&term.text);
            }
        }
    }

    /// Returns the domains that pods keep `pod` away from.
    fn about(&self, pod: &PodInfo, namespaces: &Namespaces) -> Domains {
        let mut found = Domains::new();
        for (term, domains) in self.0.values() {
            if term.is_about_pod(pod, namespaces) {
                for (value, count) in domains {
                    let domain = (term.topology_key.clone(), value.clone());
                    let count = i64::try_from(*count).unwrap_or(i64::MAX);
                    *found.entry(domain).or_default() += count;
                }
            }
        }
        found
    }

    /// Returns whether a term needs to know the labels of namespaces.
    pub(super) fn select_namespaces(&self) -> bool {
        self.0.values().any(|(term, _)| term.selects_namespaces())
    }
}

// === impl AffinityState ===

impl AffinityState {
    pub(super) fn of(
        pod: &UnscheduledPod,
        existing: &AntiAffinities,
        groups: &Groups,
        nodes: &impl Fn(&str) -> Option<Arc<Node>>,
        namespaces: &Namespaces,
    ) -> Self {
        let mut affinity = Domains::new();
        if !pod.affinity.is_empty() {
            let near = |namespace: &str| {
                let mut terms = pod.affinity.iter();
                terms.all(|term| term.covers(namespace, namespaces))
            };
            let selects = |labels: &Pairs| {
                let mut terms = pod.affinity.iter();
                terms.all(|term| term.selection.matches(labels))
            };
            for (_, group) in groups.matching(near, selects) {
                for (name, count) in group {
                    let Some(node) = nodes(name) else { continue };
                    for term in &pod.affinity {
                        change(&mut affinity, &node, &term.topology_key, count.all());
                    }
                }
            }
        }
        let mut anti_affinity = Domains::new();
        for term in &pod.info.anti_affinity {
            for (domain, count) in term.count(groups, nodes, namespaces) {
                *anti_affinity.entry(domain).or_default() += count;
            }
        }
        Self {
            existing: existing.about(&pod.info, namespaces),
            affinity,
            anti_affinity,
        }
    }

    /// Adds a pod on a node, or takes it away.
    pub(super) fn change(
        &mut self,
        pod: &UnscheduledPod,
        other: &PodInfo,
        node: &Node,
        by: i64,
        namespaces: &Namespaces,
    ) {
        for term in &other.anti_affinity {
            if term.is_about_pod(&pod.info, namespaces) {
                change(&mut self.existing, node, &term.topology_key, by);
            }
        }
        if all_are_about(&pod.affinity, other, namespaces) {
            for term in &pod.affinity {
                change(&mut self.affinity, node, &term.topology_key, by);
            }
        }
        for term in &pod.info.anti_affinity {
            if term.is_about_pod(other, namespaces) {
                change(&mut self.anti_affinity, node, &term.topology_key, by);
            }
        }
    }

    pub(super) fn reject(
        &self,
        pod: &UnscheduledPod,
        node: &Node,
        namespaces: &Namespaces,
    ) -> Option<Rejection> {
        if !self.has_affinity(pod, node, namespaces) {
            return Some(Rejection::for_good(AFFINITY));
        }
        let is_taken = |domains: &Domains, key: &str| {
            let value = node.labels.get(key);
            let domain = value.map(|value| (key.to_owned(), value.to_owned()));
            domain.is_some_and(|domain| domains.get(&domain).is_some_and(|count| *count > 0))
        };
        let mut own = pod.info.anti_affinity.iter();
        if own.any(|term| is_taken(&self.anti_affinity, &term.topology_key)) {
            return Some(Rejection::for_now(ANTI_AFFINITY));
        }
        let keeps_away = |((key, value), count): (&(String, String), &i64)| {
            *count > 0 && node.labels.get(key) == Some(value)
        };
        let mut existing = self.existing.iter();
        existing
            .any(keeps_away)
            .then(|| Rejection::for_now(EXISTING))
    }

    /// Returns whether a node is near the pods that the affinity asks for, or may have the first of them.
    fn has_affinity(&self, pod: &UnscheduledPod, node: &Node, namespaces: &Namespaces) -> bool {
        let mut all_near = true;
        for term in &pod.affinity {
            let key = &term.topology_key;
            let Some(value) = node.labels.get(key) else {
                return false;
            };
            let domain = (key.clone(), value.to_owned());
            all_near &= self.affinity.get(&domain).is_some_and(|count| *count > 0);
        }
        let is_first =
            || self.affinity.is_empty() && all_are_about(&pod.affinity, &pod.info, namespaces);
        all_near || is_first()
    }
}

fn all_are_about(terms: &[AffinityTerm], pod: &PodInfo, namespaces: &Namespaces) -> bool {
    let mut all = terms.iter();
    !terms.is_empty() && all.all(|term| term.is_about_pod(pod, namespaces))
}

/// Changes the count of the domain of a node, if it is in one.
fn change(domains: &mut Domains, node: &Node, key: &str, by: i64) {
    let Some(value) = node.labels.get(key).filter(|_| by != 0) else {
        return;
    };
    let domain = (key.to_owned(), value.to_owned());
    let count = domains.entry(domain.clone()).or_default();
    *count += by;
    if *count == 0 {
        domains.remove(&domain);
    }
}
