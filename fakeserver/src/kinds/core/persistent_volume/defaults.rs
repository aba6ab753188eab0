//! Defaults and preparation of persistent volumes.

use serde_json::{Value, json};

use crate::value::edit::{set, set_absent, within};

pub(crate) fn set_defaults(volume: &mut Value) {
    let Some(spec) = within(volume, "spec") else {
        return;
    };
    set(spec, "persistentVolumeReclaimPolicy", json!("Retain"));
    set_absent(spec, "volumeMode", json!("Filesystem"));
    if let Some(path) = within(spec, "hostPath")
        && path.get("type").is_none_or(Value::is_null)
    {
        path["type"] = json!("");
    }
}

/// Gives a new volume its phase, and the time of that.
pub(crate) fn prepare(volume: &mut Value) {
    let since = &volume["metadata"]["creationTimestamp"];
    volume["status"] = json!({"phase": "Pending", "lastPhaseTransitionTime": since});
}
