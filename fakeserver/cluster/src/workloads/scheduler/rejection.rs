//! The reasons for which a node does not take a pod, and the message that a pod which fits nowhere gets.
//!
//! Upstream: `Status` and `FitError` in `pkg/scheduler/framework`.

use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

/// A reason in upstream's words.
pub(super) type Reason = Cow<'static, str>;

/// The reasons of one filter against a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rejection {
    pub(super) reasons: Vec<Reason>,
    /// True if it stays, whichever pods leave the node.
    #[doc(alias = "UnschedulableAndUnresolvable")]
    pub(super) is_final: bool,
}

/// The result of an attempt in which no node took the pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FitError {
    NoNodes,
    /// A device claim does not exist. No event reports this.
    Unready,
    /// Something about the claims of devices keeps the pod from all nodes.
    Claims {
        nodes: usize,
        why: String,
    },
    /// Something about the pod keeps it from all nodes.
    Pod {
        nodes: usize,
        why: String,
    },
    Nodes(Diagnosis),
}

/// The rejections of all nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Diagnosis {
    /// The number of all nodes.
    pub(super) nodes: usize,
    pub(super) rejections: BTreeMap<Arc<str>, Rejection>,
    /// The reason against the nodes without a rejection of their own.
    pub(super) others: Reason,
    /// True if the pod has claims of devices.
    pub(super) has_claims: bool,
}

// === impl Rejection ===

impl Rejection {
    /// A rejection that a deletion of pods may end.
    pub(super) fn for_now(reason: &'static str) -> Self {
        Self {
            reasons: vec![reason.into()],
            is_final: false,
        }
    }

    /// A rejection that no deletion of pods ends.
    pub(super) fn for_good(reason: &'static str) -> Self {
        Self {
            reasons: vec![reason.into()],
            is_final: true,
        }
    }
}

// === impl FitError ===

impl FitError {
    /// Returns the message of the condition. `preemption` says why the pod preempts no others; it is empty if it does.
    pub(super) fn message(&self, preemption: &str) -> String {
        match self {
            Self::NoNodes => "no nodes available to schedule pods".to_owned(),
            Self::Unready => String::new(),
            Self::Claims { nodes, why } => format!(
                "0/{nodes} nodes are available: {why}. no new claims to deallocate, preemption: 0/{nodes} nodes are available: \
                 {nodes} Preemption is not helpful for scheduling."
            ),
            // The plugin of device claims, which comes before preemption, has not seen such a pod.
            Self::Pod { nodes, why } => format!("0/{nodes} nodes are available: {why}. not found"),
            Self::Nodes(diagnosis) if preemption.is_empty() => diagnosis.message(),
            Self::Nodes(diagnosis) => {
                let claims = if diagnosis.has_claims {
                    "still not schedulable"
                } else {
                    "no new claims to deallocate"
                };
                let nodes = diagnosis.message();
                format!("{nodes} {claims}, preemption: {preemption}")
            }
        }
    }

    /// Returns whether a node was rejected for this reason.
    pub(super) fn mentions(&self, reason: &str) -> bool {
        match self {
            Self::Nodes(diagnosis) => {
                let mut rejections = diagnosis.rejections.values();
                rejections.any(|rejection| rejection.reasons.iter().any(|other| other == reason))
            }
            _ => false,
        }
    }
}

// === impl Diagnosis ===

impl Diagnosis {
    /// Returns the reasons with the numbers of nodes, in the order of their texts.
    pub(super) fn message(&self) -> String {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for rejection in self.rejections.values() {
            for reason in &rejection.reasons {
                *counts.entry(reason).or_default() += 1;
            }
        }
        let others = self.nodes.saturating_sub(self.rejections.len());
        if others > 0 && !self.others.is_empty() {
            *counts.entry(&self.others).or_default() += others;
        }
        let mut lines: Vec<String> = counts
            .into_iter()
            .map(|(reason, count)| format!("{count} {reason}"))
            .collect();
        lines.sort_unstable();
        let nodes = self.nodes;
        if lines.is_empty() {
            return format!("0/{nodes} nodes are available:");
        }
        format!("0/{nodes} nodes are available: {}.", lines.join(", "))
    }
}
