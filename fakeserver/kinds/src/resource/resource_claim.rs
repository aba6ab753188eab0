//! Claims of devices.

use fakeserver_value::{edit::within, field::Field, findings::Findings, read::items};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    Habits, Kind, MetadataRechecks, PreservedMetadata, Validation,
    resource::{allocation, requests},
    table::cell::{Cells, age, name},
};

const SPEC: &str = "io.k8s.api.resource.v1.ResourceClaimSpec";

/// Claims of devices.
pub static KIND: Kind = Kind::new("resource.k8s.io", "resourceclaims")
    .habits(Habits {
        returns_deleted: true,
        metadata_rechecks: MetadataRechecks::ALL,
        kept_by_status: PreservedMetadata::ALL,
        status_metadata_unowned: Some("ResourceClaimStatusResetsMetadata"),
        ..Habits::COMMON
    })
    .defaults(set_defaults)
    .cells(cells)
    .validation(Validation::new(check, check_update).with(&[("status", allocation::check_status)]));

// === Defaults ===

pub fn set_defaults(claim: &mut Value) {
    if let Some(spec) = within(claim, "spec") {
        requests::set_defaults(spec);
    }
}

// === Validation ===

pub fn check(claim: &Field<'_>, found: &mut Findings) {
    requests::check_spec(&claim.at("spec"), found);
}

pub fn check_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    let spec = new.at("spec");
    let is_rechecked = !found.is_on(requests::FIXED_SPEC_NOT_RECHECKED);
    if is_rechecked {
        check(new, found);
    }
    if old.get("spec") != spec.value() {
        found.invalid_struct(&spec, SPEC, "field is immutable");
    }
    if is_rechecked {
        check(new, found);
    }
}

// === Cells ===

pub fn cells(object: &Value, now: Timestamp) -> Cells {
    let is_deleted = !object["metadata"]["deletionTimestamp"].is_null();
    let status = &object["status"];
    let is_allocated = !status["allocation"].is_null();
    let facts = [
        ("deleted", is_deleted),
        ("pending", !is_deleted && !is_allocated),
        ("allocated", is_allocated),
        (
            "reserved",
            is_allocated && !items(&status["reservedFor"]).is_empty(),
        ),
    ];
    let facts = facts.into_iter().filter(|(_, holds)| *holds);
    let holding: Vec<&str> = facts.map(|(fact, _)| fact).collect();
    vec![
        json!(name(object)),
        json!(holding.join(",")),
        json!(age(object, now)),
    ]
}
