//! Volumes, claims to them, and their classes.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::cell::{Cells, NONE, UNSET, age, items, name, plain, text, text_or};

/// The annotation that named the class before there was a field for it.
const CLASS: &str = "volume.beta.kubernetes.io/storage-class";
const IS_DEFAULT: &str = "storageclass.kubernetes.io/is-default-class";

pub(super) fn volume(object: &Value, now: Timestamp) -> Cells {
    let (spec, status) = (&object["spec"], &object["status"]);
    let claim = &spec["claimRef"];
    let claim = if claim.is_null() {
        String::new()
    } else {
        format!("{}/{}", text(&claim["namespace"]), text(&claim["name"]))
    };
    vec![
        json!(name(object)),
        json!(quantity(&spec["capacity"]["storage"])),
        json!(access_modes(&spec["accessModes"])),
        json!(text(&spec["persistentVolumeReclaimPolicy"])),
        json!(phase(object)),
        json!(claim),
        json!(class_name(object)),
        json!(text_or(&spec["volumeAttributesClassName"], UNSET)),
        json!(text(&status["reason"])),
        json!(age(object, now)),
        json!(text_or(&spec["volumeMode"], UNSET)),
    ]
}

pub(super) fn claim(object: &Value, now: Timestamp) -> Cells {
    let (spec, status) = (&object["spec"], &object["status"]);
    let volume = text(&spec["volumeName"]);
    let (capacity, modes) = if volume.is_empty() {
        (String::new(), String::new())
    } else {
        (
            quantity(&status["capacity"]["storage"]),
            access_modes(&status["accessModes"]),
        )
    };
    vec![
        json!(name(object)),
        json!(phase(object)),
        json!(volume),
        json!(capacity),
        json!(modes),
        json!(class_name(object)),
        json!(text_or(&spec["volumeAttributesClassName"], UNSET)),
        json!(age(object, now)),
        json!(text_or(&spec["volumeMode"], UNSET)),
    ]
}

fn phase(object: &Value) -> &str {
    if object["metadata"]["deletionTimestamp"].is_null() {
        text(&object["status"]["phase"])
    } else {
        "Terminating"
    }
}

fn class_name(object: &Value) -> &str {
    match text(&object["metadata"]["annotations"][CLASS]) {
        "" => text(&object["spec"]["storageClassName"]),
        class => class,
    }
}

fn quantity(value: &Value) -> String {
    if value.is_null() {
        String::new()
    } else {
        plain(value)
    }
}

fn access_modes(modes: &Value) -> String {
    let has = |mode: &str| items(modes).iter().any(|known| known == mode);
    [
        ("ReadWriteOnce", "RWO"),
        ("ReadOnlyMany", "ROX"),
        ("ReadWriteMany", "RWX"),
        ("ReadWriteOncePod", "RWOP"),
    ]
    .iter()
    .filter(|(mode, _)| has(mode))
    .map(|(_, short)| *short)
    .collect::<Vec<_>>()
    .join(",")
}

pub(super) fn class(object: &Value, now: Timestamp) -> Cells {
    let is_default = object["metadata"]["annotations"][IS_DEFAULT] == "true";
    let suffix = if is_default { " (default)" } else { "" };
    vec![
        json!(format!("{}{suffix}", name(object))),
        json!(text(&object["provisioner"])),
        json!(text_or(&object["reclaimPolicy"], "Delete")),
        json!(text_or(&object["volumeBindingMode"], "Immediate")),
        json!(object["allowVolumeExpansion"] == true),
        json!(age(object, now)),
    ]
}

pub(super) fn attachment(object: &Value, now: Timestamp) -> Cells {
    let spec = &object["spec"];
    vec![
        json!(name(object)),
        json!(text(&spec["attacher"])),
        json!(text_or(&spec["source"]["persistentVolumeName"], NONE)),
        json!(text(&spec["nodeName"])),
        json!(object["status"]["attached"] == true),
        json!(age(object, now)),
    ]
}

pub(super) fn csi_node(object: &Value, now: Timestamp) -> Cells {
    let drivers = items(&object["spec"]["drivers"]).len();
    vec![json!(name(object)), json!(drivers), json!(age(object, now))]
}
