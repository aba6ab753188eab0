//! Nodes.

use serde_json::{Value, json};

use super::within;

/// What a new node has until it is ready.
const NOT_READY: &str = "node.kubernetes.io/not-ready";

/// All that a node has may be used, unless it says otherwise.
pub(super) fn set_defaults(node: &mut Value) {
    let Some(status) = within(node, "status") else {
        return;
    };
    if let Some(capacity) = status.get("capacity").cloned()
        && status.get("allocatable").is_none()
    {
        status["allocatable"] = capacity;
    }
}

/// Keeps pods off a node until it is ready.
pub(super) fn admit(node: &mut Value) {
    let taints = &mut node["spec"]["taints"];
    let taint = json!({"key": NOT_READY, "effect": "NoSchedule"});
    match taints.as_array_mut() {
        Some(taints) if taints.iter().any(|known| known["key"] == NOT_READY) => {}
        Some(taints) => taints.push(taint),
        None => *taints = json!([taint]),
    }
}
