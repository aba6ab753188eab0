//! Storage classes.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    kinds::{
        Habits, Kind, MetadataRechecks, Validation,
        formats::check_qualified,
        storage::class::{check_parameters, check_provisioner},
        table::cell::{Cells, age, name, text, text_or},
    },
    value::{edit::set, field::Field, findings::Findings},
};

const BINDING_MODES: [&str; 2] = ["Immediate", "WaitForFirstConsumer"];

const IS_DEFAULT: &str = "storageclass.kubernetes.io/is-default-class";

/// Storage classes.
pub(crate) static KIND: Kind = Kind::new("storage.k8s.io", "storageclasses")
    .habits(Habits {
        returns_deleted: true,
        metadata_rechecks: MetadataRechecks::ALL,
        ..Habits::COMMON
    })
    .defaults(set_defaults)
    .validation(Validation::new(check, check_update))
    .cells(cells);

// === Defaults ===

pub(crate) fn set_defaults(class: &mut Value) {
    set(class, "reclaimPolicy", json!("Delete"));
    set(class, "volumeBindingMode", json!("Immediate"));
}

// === Validation ===

pub(crate) fn check(class: &Field<'_>, found: &mut Findings) {
    check_provisioner(&class.at("provisioner"), found);
    check_parameters(&class.at("parameters"), found);
    found.optional_one_of(&class.at("reclaimPolicy"), &["Delete", "Retain"]);
    let mode = class.at("volumeBindingMode");
    if !mode.is_set() {
        found.required(&mode, "");
    } else if !BINDING_MODES.contains(&mode.text()) {
        found.not_supported(&mode, &BINDING_MODES);
    }
    for topology in class.at("allowedTopologies").items() {
        for requirement in topology.at("matchLabelExpressions").items() {
            if requirement.at("values").is_empty() {
                found.required(&requirement.at("values"), "");
            }
            check_qualified(&requirement.at("key"), found);
        }
    }
}

pub(crate) fn check_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    if old.get("parameters") != new.get("parameters") {
        found.forbidden(
            &new.at("parameters"),
            "updates to parameters are forbidden.",
        );
    }
    if old.get("provisioner") != new.get("provisioner") {
        found.forbidden(
            &new.at("provisioner"),
            "updates to provisioner are forbidden.",
        );
    }
    if old.get("reclaimPolicy") != new.get("reclaimPolicy") {
        found.forbidden(
            &new.at("reclaimPolicy"),
            "updates to reclaimPolicy are forbidden.",
        );
    }
    found.immutable(&new.at("volumeBindingMode"), &old.at("volumeBindingMode"));
}

// === Cells ===

pub(crate) fn cells(object: &Value, now: Timestamp) -> Cells {
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
