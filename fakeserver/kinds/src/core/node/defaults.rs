//! Defaults of nodes.

use fakeserver_value::edit::{is_unset, remove, within};
use serde_json::{Value, json};

use crate::resource_names::round_amounts;

/// All that a node has may be used, unless it says otherwise.
pub(super) fn set_defaults(node: &mut Value) {
    if let Some(spec) = within(node, "spec") {
        set_ranges(spec);
    }
    let Some(status) = within(node, "status") else {
        return;
    };
    if let Some(capacity) = status.get("capacity").cloned()
        && status.get("allocatable").is_none()
    {
        status["allocatable"] = capacity;
    }
    for list in ["capacity", "allocatable"] {
        if let Some(amounts) = within(status, list) {
            round_amounts(amounts);
        }
    }
}

/// Makes the two fields for ranges of addresses agree: the older one has the first range, and wins.
fn set_ranges(spec: &mut Value) {
    let first = spec["podCIDRs"].get(0).cloned().unwrap_or_default();
    let older = &spec["podCIDR"];
    if !is_unset(older) && *older != first {
        spec["podCIDRs"] = json!([older]);
    } else if !is_unset(&first) {
        spec["podCIDR"] = first;
    }
}

/// Removes the fields of a removed feature from a new node.
pub(super) fn prepare(node: &mut Value) {
    if let Some(spec) = within(node, "spec") {
        remove(spec, "configSource");
    }
    if let Some(status) = within(node, "status") {
        remove(status, "config");
    }
}

/// Removes the fields of a removed feature from the next version of a node, unless the node had them before.
pub(super) fn prepare_update(old: &Value, node: &mut Value) {
    if old["spec"]["configSource"].is_null()
        && let Some(spec) = within(node, "spec")
    {
        remove(spec, "configSource");
    }
    if old["status"]["config"].is_null()
        && let Some(status) = within(node, "status")
    {
        remove(status, "config");
    }
}
