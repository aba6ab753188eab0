//! Claims of devices.

use serde_json::Value;

use crate::{
    kinds::{
        Habits, KeptByStatus, Kind, MetadataRechecks, Validation,
        resource::{allocation, requests},
    },
    value::{edit::within, field::Field, findings::Findings},
};

const SPEC: &str = "io.k8s.api.resource.v1.ResourceClaimSpec";

/// Claims of devices.
pub(crate) static KIND: Kind = Kind::new("resource.k8s.io", "resourceclaims")
    .habits(Habits {
        returns_deleted: true,
        metadata_rechecks: MetadataRechecks::ALL,
        kept_by_status: KeptByStatus::ALL,
        ..Habits::COMMON
    })
    .defaults(set_defaults)
    .validation(Validation::new(check, check_update).with(&[("status", allocation::check_status)]));

// === Defaults ===

pub(crate) fn set_defaults(claim: &mut Value) {
    if let Some(spec) = within(claim, "spec") {
        requests::set_defaults(spec);
    }
}

// === Validation ===

pub(crate) fn check(claim: &Field<'_>, found: &mut Findings) {
    requests::check_spec(&claim.at("spec"), found);
}

pub(crate) fn check_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    let spec = new.at("spec");
    if old.get("spec") != spec.value() {
        found.invalid_struct(&spec, SPEC, "field is immutable");
    }
}
