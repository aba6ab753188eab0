//! Storage classes.

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    kinds::{
        Habits, Kind, MetadataRechecks, Validation,
        formats::check_qualified,
        table::cell::{Cells, age, name, text, text_or},
    },
    value::{edit::set, field::Field, findings::Findings, names::qualified_name_problems},
};

const BINDING_MODES: [&str; 2] = ["Immediate", "WaitForFirstConsumer"];

const PARAMETERS_MAX: usize = 512;

const PARAMETERS_MAX_BYTES: usize = 256 << 10;

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
    let provisioner = class.at("provisioner");
    if provisioner.has_text() {
        let problems = qualified_name_problems(&provisioner.text().to_lowercase());
        found.problems(&provisioner, problems);
    } else {
        found.required(&provisioner, "");
    }
    let parameters = class.at("parameters");
    let mut bytes = 0;
    for (key, value) in parameters.entries() {
        if key.is_empty() {
            found.invalid_as(&parameters, &json!(key), "field can not be empty.");
        }
        bytes += key.len() + value.text().len();
    }
    if parameters.len() > PARAMETERS_MAX {
        found.too_long(&parameters, PARAMETERS_MAX);
    } else if bytes > PARAMETERS_MAX_BYTES {
        found.too_long(&parameters, PARAMETERS_MAX_BYTES);
    }
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
