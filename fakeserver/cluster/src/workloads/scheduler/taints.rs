//! Taints of nodes, and tolerations of pods.
//!
//! Upstream: the plugins `NodeUnschedulable` and `TaintToleration`. The operators `Gt` and `Lt` of tolerations, which are
//! off by default, tolerate nothing.

use fakeserver_value::read::text;
use serde_json::Value;

pub(super) const UNTOLERATED: &str = "node(s) had untolerated taint(s)";
pub(super) const CORDONED: &str = "node(s) were unschedulable";

/// A taint of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::workloads) struct Taint {
    key: String,
    value: String,
    effect: String,
}

/// A toleration of a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::workloads) struct Toleration {
    /// Empty for all keys.
    key: String,
    value: String,
    /// Empty for all effects.
    effect: String,
    operator: String,
}

// === impl Taint ===

impl Taint {
    pub(in crate::workloads) fn of(taint: &Value) -> Self {
        Self {
            key: text(&taint["key"]).to_owned(),
            value: text(&taint["value"]).to_owned(),
            effect: text(&taint["effect"]).to_owned(),
        }
    }

    /// The taint of a cordoned node.
    pub(super) fn unschedulable() -> Self {
        Self {
            key: "node.kubernetes.io/unschedulable".to_owned(),
            value: String::new(),
            effect: "NoSchedule".to_owned(),
        }
    }

    /// Returns whether pods that do not tolerate it are kept away.
    fn is_strict(&self) -> bool {
        matches!(&*self.effect, "NoSchedule" | "NoExecute")
    }

    /// Returns whether pods that do not tolerate it have to go.
    pub(super) fn evicts(&self) -> bool {
        self.effect == "NoExecute"
    }

    /// Returns whether pods that do not tolerate it should be somewhere else, if they can.
    pub(super) fn is_preference(&self) -> bool {
        self.effect == "PreferNoSchedule"
    }

    pub(super) fn is_tolerated(&self, tolerations: &[Toleration]) -> bool {
        tolerations
            .iter()
            .any(|toleration| toleration.tolerates(self))
    }
}

// === impl Toleration ===

impl Toleration {
    /// Reads the tolerations of the specification of a pod.
    pub(super) fn all(spec: &Value) -> Vec<Self> {
        let tolerations = spec["tolerations"].as_array().into_iter().flatten();
        tolerations.map(Self::of).collect()
    }

    pub(in crate::workloads) fn of(toleration: &Value) -> Self {
        Self {
            key: text(&toleration["key"]).to_owned(),
            value: text(&toleration["value"]).to_owned(),
            effect: text(&toleration["effect"]).to_owned(),
            operator: text(&toleration["operator"]).to_owned(),
        }
    }

    pub(in crate::workloads) fn tolerates(&self, taint: &Taint) -> bool {
        let is_same = |own: &str, its: &str| own.is_empty() || own == its;
        let is_meant = is_same(&self.key, &taint.key) && is_same(&self.effect, &taint.effect);
        is_meant
            && match &*self.operator {
                "Exists" => true,
                "" | "Equal" => self.value == taint.value,
                _ => false,
            }
    }
}

/// Returns whether one of these taints keeps a pod with these tolerations away.
pub(super) fn repel(taints: &[Taint], tolerations: &[Toleration]) -> bool {
    let mut strict = taints.iter().filter(|taint| taint.is_strict());
    strict.any(|taint| !taint.is_tolerated(tolerations))
}
