//! Migrations of stored objects to another version.

use fakeserver_value::{
    field::Field,
    findings::Findings,
    read::{items, text},
};
use serde_json::{Value, json};

use crate::{
    Habits, Kind, PreservedMetadata, Validation, formats::check_conditions, table::cell::name,
};

/// The conditions of a migration: the first one ends with one of the others.
pub const RUNNING: &str = "Running";
/// All objects were written.
pub const SUCCEEDED: &str = "Succeeded";
/// The migration ended before all objects were written.
pub const FAILED: &str = "Failed";

/// Migrations of stored objects to another version.
pub static KIND: Kind = Kind::new("storagemigration.k8s.io", "storageversionmigrations")
    .habits(Habits {
        has_generation: true,
        requires_version: true,
        kept_by_status: PreservedMetadata::ALL,
        ..Habits::COMMON
    })
    .validation(Validation::new(check, check_update).with(&[("status", check_status)]))
    .cells(|object, _| {
        let conditions = items(&object["status"]["conditions"]).iter();
        let mut reached = conditions.filter(|condition| condition["status"] == "True");
        let status = reached
            .next_back()
            .map(|condition| text(&condition["type"]));
        vec![
            json!(name(object)),
            json!(text(&object["spec"]["resource"]["resource"])),
            json!(status.unwrap_or_default()),
        ]
    });

/// Returns whether a condition of a migration is true.
pub fn is_true(migration: &Value, kind: &str) -> bool {
    let mut conditions = items(&migration["status"]["conditions"]).iter();
    conditions.any(|condition| condition["type"] == kind && condition["status"] == "True")
}

// === Validation ===

fn check(migration: &Field<'_>, found: &mut Findings) {
    let resource = migration.at("spec").at("resource").at("resource");
    if !resource.has_text() {
        found.required(&resource, "resource is required");
    }
}

fn check_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check(new, found);
    for part in ["group", "resource"] {
        let [was, is] = [old, new].map(|one| one.at("spec").at("resource").at(part));
        if was.text() != is.text() {
            found.invalid_as(&new.at(part), &json!(is.text()), "field is immutable");
        }
    }
}

fn check_status(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    let status = new.at("status");
    let (version, was) = (
        status.at("resourceVersion"),
        old.at("status").at("resourceVersion"),
    );
    let number: Result<i64, _> = version.text().parse();
    if version.has_text() {
        match number {
            Ok(number) if number < 0 => {
                found.invalid(&version, "must be greater than or equal to 0");
            }
            Ok(_) => {}
            Err(_) => {
                let text = version.text();
                let why = format!(
                    "failed to parse resource version {text:?}: strconv.ParseInt: parsing {text:?}: invalid syntax"
                );
                found.invalid(&version, &why);
            }
        }
    }
    let conditions = status.at("conditions");
    check_conditions(&conditions, found);
    if was.has_text() && was.text() != version.text() {
        found.invalid_as(&version, &json!(version.text()), "cannot be updated");
    }
    check_outcome(old.value(), new.value(), &conditions, found);
}

/// Checks that a migration has one outcome, which stays.
fn check_outcome(old: &Value, new: &Value, conditions: &Field<'_>, found: &mut Findings) {
    let [running, succeeded, failed] = [RUNNING, SUCCEEDED, FAILED].map(|kind| is_true(new, kind));
    for (is_wrong, why) in [
        (
            succeeded && failed,
            "Both success and failed conditions cannot be true at the same time",
        ),
        (
            succeeded && running,
            "Running condition cannot be true when success condition is true",
        ),
        (
            failed && running,
            "Running condition cannot be true when failed condition is true",
        ),
        (
            is_true(old, SUCCEEDED) && !succeeded,
            "Success condition cannot be set to false once it is true",
        ),
        (
            is_true(old, FAILED) && !failed,
            "Failed condition cannot be set to false once it is true",
        ),
    ] {
        if is_wrong {
            found.invalid(conditions, why);
        }
    }
}
