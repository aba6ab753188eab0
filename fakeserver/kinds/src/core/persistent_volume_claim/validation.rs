//! Validation of claims.

use fakeserver_value::{
    difference::difference, edit::copy, field::Field, findings::Findings,
    names::qualified_name_problems,
};
use serde_json::{Value, json};

use crate::{
    claim_spec,
    formats::quantity,
    resource_names::{check_resource_amount, is_native},
};

const RESIZE_STATUSES: [&str; 5] = [
    "ControllerResizeInProgress",
    "ControllerResizeInfeasible",
    "NodeResizeInProgress",
    "NodeResizeInfeasible",
    "NodeResizePending",
];

const DEFINITION: &str = "io.k8s.api.core.v1.PersistentVolumeClaimSpec";

pub fn check(claim: &Field<'_>, found: &mut Findings) {
    claim_spec::check(&claim.at("spec"), found);
}

pub fn check_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check(new, found);
    let mut was = old.at("spec").value().clone();
    let mut is = new.at("spec").value().clone();
    if !was["volumeName"].is_string() && is["volumeName"].is_string() {
        was["volumeName"] = is["volumeName"].clone();
    }
    if was["storageClassName"].is_null() && is["storageClassName"].is_string() {
        was["storageClassName"] = is["storageClassName"].clone();
    }
    let size = |spec: &Value| spec["resources"]["requests"]["storage"].clone();
    let (size_before, size_after) = (size(&was), size(&is));
    let class = was["volumeAttributesClassName"].clone();
    let class_after = is["volumeAttributesClassName"].clone();
    let take_back = |spec: &mut Value| {
        if new.at("status").at("phase").text() != "Bound" {
            return;
        }
        if spec["resources"]["requests"].is_object() {
            spec["resources"]["requests"]["storage"] = size_before.clone();
        }
        copy(&was, spec, "volumeAttributesClassName");
    };
    take_back(&mut is);
    if was != is {
        let mut after = new.at("spec").original().clone();
        take_back(&mut after);
        found.forbidden(
            &new.at("spec"),
            &format!(
                "spec is immutable after creation except resources.requests and volumeAttributesClassName for \
                 bound claims\n{}",
                difference(found.kubernetes(), DEFINITION, &was, &after)
            ),
        );
    }
    let held = quantity(&old.get("status")["capacity"]["storage"]);
    if quantity(&size_after) < quantity(&size_before) && quantity(&size_after) <= held {
        let place = new.at("spec").at("resources").at("requests").at("storage");
        found.forbidden(&place, "field can not be less than status.capacity");
    }
    if old.get("spec")["volumeMode"] != new.get("spec")["volumeMode"] {
        let mode = new.at("spec").at("volumeMode");
        found.invalid(
            &mode.called_within(&Field::root(new.value()), "volumeMode"),
            "field is immutable",
        );
    }
    let place = new.at("spec").at("volumeAttributesClassName");
    let is_applied = !old.get("status")["currentVolumeAttributesClassName"].is_null();
    if is_applied && class != class_after && class_after.is_null() {
        found.forbidden(
            &place,
            "update to nil is forbidden when status.currentVolumeAttributesClassName is not nil",
        );
    } else if is_applied && class != class_after && class_after == json!("") {
        found.forbidden(
            &place,
            "update to empty string is forbidden when status.currentVolumeAttributesClassName is not nil",
        );
    }
}

/// Checks an update of the status.
pub fn check_status(_old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    let status = new.at("status");
    for (_, amount) in status.at("capacity").entries() {
        check_basic_amount(&amount, found);
    }
    let statuses = status.at("allocatedResourceStatuses");
    for (resource, state) in statuses.entries() {
        check_resource_key(resource, &statuses, found);
        if !RESIZE_STATUSES.contains(&state.text()) {
            found.not_supported_as(&statuses, &json!(resource), &RESIZE_STATUSES);
        }
    }
    let allocated = status.at("allocatedResources");
    for (resource, amount) in allocated.entries() {
        if check_resource_key(resource, &allocated, found) && check_basic_amount(&amount, found) {
            check_resource_amount("storage", &amount, found);
        }
    }
}

/// Checks that an amount is not negative, and returns whether it is so.
fn check_basic_amount(amount: &Field<'_>, found: &mut Findings) -> bool {
    let bytes = quantity(amount.value()).in_units_of(0);
    if bytes < 0 {
        found.invalid_as(amount, &json!(bytes), "must be a valid resource quantity");
    }
    bytes >= 0
}

/// Checks that a claim can have a resource, and returns whether it can.
fn check_resource_key(resource: &str, place: &Field<'_>, found: &mut Findings) -> bool {
    let problems = qualified_name_problems(resource);
    let is_known = resource == "storage" || !is_native(resource);
    if problems.is_empty() && !is_known {
        found.not_supported_as(place, &json!(resource), &["storage"]);
    }
    let is_named = problems.is_empty();
    for problem in problems {
        found.invalid_as(place, &json!(resource), &problem);
    }
    is_named && is_known
}
