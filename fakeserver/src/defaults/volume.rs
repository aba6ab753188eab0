//! Persistent volumes, claims to them, and their classes.

use serde_json::{Value, json};

use super::{set, within};

pub(super) fn set_volume_defaults(volume: &mut Value) {
    let Some(spec) = within(volume, "spec") else {
        return;
    };
    set(spec, "persistentVolumeReclaimPolicy", json!("Retain"));
    set(spec, "volumeMode", json!("Filesystem"));
    if let Some(path) = within(spec, "hostPath")
        && path.get("type").is_none_or(Value::is_null)
    {
        path["type"] = json!("");
    }
}

pub(super) fn set_claim_defaults(claim: &mut Value) {
    if let Some(spec) = within(claim, "spec") {
        set(spec, "volumeMode", json!("Filesystem"));
    }
}

pub(super) fn set_class_defaults(class: &mut Value) {
    set(class, "reclaimPolicy", json!("Delete"));
    set(class, "volumeBindingMode", json!("Immediate"));
}

pub(super) fn set_driver_defaults(driver: &mut Value) {
    let spec = &mut driver["spec"];
    for (field, default) in [
        ("attachRequired", json!(true)),
        ("podInfoOnMount", json!(false)),
        ("storageCapacity", json!(false)),
        ("fsGroupPolicy", json!("ReadWriteOnceWithFSType")),
        ("volumeLifecycleModes", json!(["Persistent"])),
        ("requiresRepublish", json!(false)),
        ("seLinuxMount", json!(false)),
    ] {
        set(spec, field, default);
    }
}
