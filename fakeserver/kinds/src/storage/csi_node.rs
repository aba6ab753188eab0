//! Drivers of storage on nodes.

use std::collections::BTreeSet;

use fakeserver_value::{
    edit::remove, field::Field, findings::Findings, names::qualified_name_problems, read::items,
};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    Habits, Kind, MetadataRechecks, Validation,
    formats::check_driver_name,
    table::cell::{Cells, age, name},
};

const DRIVER: &str = "io.k8s.api.storage.v1.CSINodeDriver";

const NODE_ID_MAX: usize = 256;

/// Drivers of storage on nodes.
pub static KIND: Kind = Kind::new("storage.k8s.io", "csinodes")
    .habits(Habits {
        requires_version: true,
        returns_deleted: true,
        metadata_rechecks: MetadataRechecks::WHOLE,
        ..Habits::COMMON
    })
    .validation(
        Validation::new(check, check_update).repeated_without("CSINodeUpdateCheckedOnce", check),
    )
    .cells(cells);

// === Validation ===

pub fn check(node: &Field<'_>, found: &mut Findings) {
    let mut names = BTreeSet::new();
    for driver in node.at("spec").at("drivers").items() {
        let name = driver.at("name");
        check_driver_name(&name, found);
        let id = driver.at("nodeID");
        if !id.has_text() {
            found.required(&id, "");
        } else if id.text().len() > NODE_ID_MAX {
            found.invalid(&id, "must be 256 characters or less");
        }
        found.non_negative(&driver.at("allocatable").at("count"));
        if !names.insert(name.text()) {
            found.duplicate_as(&name, &json!(name.text()));
        }
        check_topology(&driver, found);
    }
}

/// Checks the keys of a driver's topology; findings name the driver.
fn check_topology(driver: &Field<'_>, found: &mut Findings) {
    let mut keys = BTreeSet::new();
    for key in driver.at("topologyKeys").items() {
        let named = key.called_at(driver);
        if !key.has_text() {
            found.required(driver, "");
        }
        if !keys.insert(key.text()) {
            found.duplicate(&named);
        }
        found.problems(&named, qualified_name_problems(key.text()));
    }
}

pub fn check_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check(new, found);
    let drivers = new.at("spec").at("drivers");
    let has_mutable_count = found.is_on("MutableCSINodeAllocatableCount");
    let fixed = |driver: &Value| {
        let mut driver = driver.clone();
        if has_mutable_count {
            remove(&mut driver, "allocatable");
        }
        driver
    };
    for was in old.at("spec").at("drivers").items() {
        for is in drivers.items() {
            let (before, after) = (fixed(was.value()), fixed(is.value()));
            if before["name"] == after["name"] && before != after {
                let after = fixed(is.original());
                let after = Field::root(&after).called_at(&drivers);
                found.invalid_struct(&after, DRIVER, "field is immutable");
            }
        }
    }
}

// === Cells ===

pub fn cells(object: &Value, now: Timestamp) -> Cells {
    let drivers = items(&object["spec"]["drivers"]).len();
    vec![json!(name(object)), json!(drivers), json!(age(object, now))]
}
