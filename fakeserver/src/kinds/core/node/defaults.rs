//! Defaults of nodes.

use serde_json::Value;

use crate::value::edit::within;

/// All that a node has may be used, unless it says otherwise.
pub(crate) fn set_defaults(node: &mut Value) {
    let Some(status) = within(node, "status") else {
        return;
    };
    if let Some(capacity) = status.get("capacity").cloned()
        && status.get("allocatable").is_none()
    {
        status["allocatable"] = capacity;
    }
}
