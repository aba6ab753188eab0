//! Defaults and preparation of persistent volumes.

use serde_json::{Value, json};

use crate::{
    kinds::{pod_spec::defaults::set_source_defaults, resource_names::round_amounts},
    value::edit::{set, set_absent, within},
};

pub(crate) fn set_defaults(volume: &mut Value) {
    let Some(spec) = within(volume, "spec") else {
        return;
    };
    set(spec, "persistentVolumeReclaimPolicy", json!("Retain"));
    set_absent(spec, "volumeMode", json!("Filesystem"));
    if let Some(capacity) = within(spec, "capacity") {
        round_amounts(capacity);
    }
    set_source_defaults(spec);
}

/// Gives a new volume its phase, and the time of that.
pub(crate) fn prepare(volume: &mut Value) {
    let since = &volume["metadata"]["creationTimestamp"];
    volume["status"] = json!({"phase": "Pending", "lastPhaseTransitionTime": since});
}

/// Sets the phase that a status leaves out.
pub(crate) fn set_phase(volume: &mut Value) {
    if let Some(status) = within(volume, "status") {
        set(status, "phase", json!("Pending"));
    }
}
