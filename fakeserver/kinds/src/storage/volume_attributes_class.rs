//! Classes of volume attributes.

use fakeserver_value::{field::Field, findings::Findings, read::text};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    Habits, Kind, MetadataRechecks, Validation,
    storage::class::{check_parameters, check_provisioner},
    table::cell::{Cells, age, name},
};

/// Classes of volume attributes.
pub static KIND: Kind = Kind::new("storage.k8s.io", "volumeattributesclasses")
    .habits(Habits {
        returns_deleted: true,
        metadata_rechecks: MetadataRechecks::ALL,
        ..Habits::COMMON
    })
    .validation(
        Validation::new(check, check_update)
            .repeated_without("VolumeAttributesClassUpdateCheckedOnce", check),
    )
    .cells(cells);

// === Validation ===

pub fn check(class: &Field<'_>, found: &mut Findings) {
    check_provisioner(&class.at("driverName"), found);
    let parameters = class.at("parameters");
    check_parameters(&parameters, found);
    if parameters.is_empty() {
        found.required(&parameters, "must contain at least one key/value pair");
    }
}

pub fn check_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    for name in ["driverName", "parameters"] {
        if old.get(name) != new.get(name) {
            found.forbidden(&new.at(name), &format!("updates to {name} are forbidden."));
        }
    }
    check(new, found);
}

// === Cells ===

pub fn cells(object: &Value, now: Timestamp) -> Cells {
    vec![
        json!(name(object)),
        json!(text(&object["driverName"])),
        json!(age(object, now)),
    ]
}
