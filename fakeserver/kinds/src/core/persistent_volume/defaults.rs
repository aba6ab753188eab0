//! Defaults and preparation of persistent volumes.

use fakeserver_value::edit::{set, set_absent, within};
use serde_json::{Value, json};

use crate::{pod_spec::defaults::set_source_defaults, resource_names::round_amounts};

pub(super) fn set_defaults(volume: &mut Value) {
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
pub(super) fn prepare(volume: &mut Value) {
    let since = &volume["metadata"]["creationTimestamp"];
    volume["status"] = json!({"phase": "Pending", "lastPhaseTransitionTime": since});
}

/// Sets the phase that a status leaves out.
pub(super) fn set_phase(volume: &mut Value) {
    if let Some(status) = within(volume, "status") {
        set(status, "phase", json!("Pending"));
    }
}
