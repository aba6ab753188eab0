//! Selectors of nodes: of pods, and of volumes that are not everywhere.
//!
//! Upstream: the plugin `NodeAffinity`, and `component-helpers/scheduling/corev1/nodeaffinity`.

use std::collections::BTreeSet;

use fakeserver_value::{object::Pairs, read::text};
use serde_json::Value;

use super::node::Node;

pub(super) const UNMATCHED: &str = "node(s) didn't match Pod's node affinity/selector";
/// The terms of a pod each name several nodes at once.
pub(super) const CONFLICT: &str = "pod affinity terms conflict";
/// The message for a node that the pod does not name.
pub(super) const UNNAMED: &str = "node(s) didn't satisfy plugin(s) [NodeAffinity]";

/// Alternative terms. One without requirements matches no node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct NodeSelector(Vec<Term>);

/// Requirements on the labels and the name of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Term {
    labels: Vec<Requirement>,
    fields: Vec<Requirement>,
}

/// The nodes that a pod may run on, by its selector and its affinity.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RequiredNodes {
    labels: Vec<(String, String)>,
    affinity: Option<NodeSelector>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Requirement {
    key: String,
    operator: String,
    values: Vec<String>,
}

// === impl NodeSelector ===

impl NodeSelector {
    pub(super) fn of(selector: &Value) -> Self {
        let terms = selector["nodeSelectorTerms"].as_array();
        Self(terms.into_iter().flatten().map(Term::of).collect())
    }

    /// Returns whether a node with that name and these labels is selected.
    pub(super) fn matches(&self, name: &str, labels: &Pairs) -> bool {
        self.0.iter().any(|term| term.matches(name, labels))
    }

    /// Returns the nodes that the terms name, if each of them names some.
    pub(super) fn names(&self) -> Option<BTreeSet<&str>> {
        let mut all = BTreeSet::new();
        for term in &self.0 {
            all.extend(term.names()?);
        }
        (!self.0.is_empty()).then_some(all)
    }
}

// === impl Term ===

impl Term {
    pub(super) fn of(term: &Value) -> Self {
        let read = |list: &Value| {
            let list = list.as_array().into_iter().flatten();
            list.map(Requirement::of).collect()
        };
        Self {
            labels: read(&term["matchExpressions"]),
            fields: read(&term["matchFields"]),
        }
    }

    pub(super) fn matches(&self, name: &str, labels: &Pairs) -> bool {
        if self.labels.is_empty() && self.fields.is_empty() {
            return false;
        }
        let mut own = self.labels.iter();
        own.all(|requirement| requirement.is_met(labels.get(&requirement.key)))
            && self.fields.iter().all(|field| field.is_met(Some(name)))
    }

    /// Returns the nodes of which it names each.
    fn names(&self) -> Option<BTreeSet<&str>> {
        let listing = self.fields.iter().filter(|field| field.operator == "In");
        let lists = listing.map(|field| field.values.iter().map(String::as_str).collect());
        lists.reduce(|a: BTreeSet<&str>, b| a.intersection(&b).copied().collect())
    }
}

// === impl RequiredNodes ===

impl RequiredNodes {
    /// Reads the specification of a pod.
    pub(super) fn of(spec: &Value) -> Self {
        let labels = spec["nodeSelector"].as_object().into_iter().flatten();
        let affinity =
            &spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"];
        Self {
            labels: labels
                .map(|(label, value)| (label.clone(), text(value).to_owned()))
                .collect(),
            affinity: (!affinity.is_null()).then(|| NodeSelector::of(affinity)),
        }
    }

    pub(super) fn include(&self, node: &Node) -> bool {
        let mut labels = self.labels.iter();
        labels.all(|(label, value)| node.labels.get(label) == Some(value))
            && self
                .affinity
                .as_ref()
                .is_none_or(|affinity| affinity.matches(&node.name, &node.labels))
    }

    /// Returns the only nodes that are possible, if the affinity names them.
    pub(super) fn names(&self) -> Option<BTreeSet<&str>> {
        self.affinity.as_ref()?.names()
    }
}

// === impl Requirement ===

impl Requirement {
    fn of(requirement: &Value) -> Self {
        let values = requirement["values"].as_array().into_iter().flatten();
        Self {
            key: text(&requirement["key"]).to_owned(),
            operator: text(&requirement["operator"]).to_owned(),
            values: values.map(|value| text(value).to_owned()).collect(),
        }
    }

    fn is_met(&self, value: Option<&str>) -> bool {
        let is_listed = value.is_some_and(|value| self.values.iter().any(|listed| listed == value));
        match &*self.operator {
            "In" => is_listed,
            "NotIn" => !is_listed,
            "Exists" => value.is_some(),
            "DoesNotExist" => value.is_none(),
            operator => {
                let number = |text: &str| text.parse::<i64>().ok();
                let bound = self.values.first().and_then(|bound| number(bound));
                match (value.and_then(number), bound) {
                    (Some(value), Some(bound)) if operator == "Gt" => value > bound,
                    (Some(value), Some(bound)) if operator == "Lt" => value < bound,
                    _ => false,
                }
            }
        }
    }
}
