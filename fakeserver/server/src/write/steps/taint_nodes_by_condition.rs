//! `TaintNodesByCondition`: a new node takes no pods until it is ready.

use fakeserver_kinds::core::node;
use serde_json::{Value, json};

use crate::write::{Write, chain::Step};

pub(in crate::write) const STEP: Step = Step::mutating("TaintNodesByCondition", |write, _| {
    admit(write);
    Ok(())
});

const NOT_READY: &str = "node.kubernetes.io/not-ready";
const EFFECT: &str = "NoSchedule";

fn admit(write: &mut Write<'_>) {
    if write.creates(&node::KIND) {
        taint(&mut write.new);
    }
}

/// Adds the taint of nodes that are not ready.
pub(super) fn taint(node: &mut Value) {
    let taints = &mut node["spec"]["taints"];
    let taint = json!({"key": NOT_READY, "effect": EFFECT});
    let is_same = |taint: &Value| taint["key"] == NOT_READY && taint["effect"] == EFFECT;
    match taints.as_array_mut() {
        Some(taints) if taints.iter().any(is_same) => {}
        Some(taints) => taints.push(taint),
        None => *taints = json!([taint]),
    }
}
