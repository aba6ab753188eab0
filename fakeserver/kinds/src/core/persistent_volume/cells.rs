//! Printed cells of persistent volumes, and those that claims share with them.

use fakeserver_value::read::{items, text};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    core::persistent_volume_claim::request::class_of,
    table::cell::{Cells, UNSET, age, name, plain, text_or},
};

pub fn cells(object: &Value, now: Timestamp) -> Cells {
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
        json!(class_of(object)),
        json!(text_or(&spec["volumeAttributesClassName"], UNSET)),
        json!(text(&status["reason"])),
        json!(age(object, now)),
        json!(text_or(&spec["volumeMode"], UNSET)),
    ]
}

pub fn phase(object: &Value) -> &str {
    if object["metadata"]["deletionTimestamp"].is_null() {
        text(&object["status"]["phase"])
    } else {
        "Terminating"
    }
}

pub fn quantity(value: &Value) -> String {
    if value.is_null() {
        String::new()
    } else {
        plain(value)
    }
}

pub fn access_modes(modes: &Value) -> String {
    let has = |mode: &str| items(modes).iter().any(|other| other == mode);
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
