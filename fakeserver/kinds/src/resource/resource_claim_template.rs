//! Templates of claims of devices.

use fakeserver_value::{edit::within, field::Field, findings::Findings};
use serde_json::Value;

use crate::{
    Habits, Kind, MetadataRechecks, Validation,
    formats::{check_annotations, check_labels},
    resource::requests,
};

const SPEC: &str = "io.k8s.api.resource.v1.ResourceClaimTemplateSpec";

/// The metadata that a template does not have.
const NOT_SET: [&str; 13] = [
    "name",
    "generateName",
    "namespace",
    "selfLink",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "ownerReferences",
    "finalizers",
    "managedFields",
];

/// Templates of claims of devices.
pub static KIND: Kind = Kind::new("resource.k8s.io", "resourceclaimtemplates")
    .habits(Habits {
        returns_deleted: true,
        metadata_rechecks: MetadataRechecks::ALL,
        ..Habits::COMMON
    })
    .defaults(set_defaults)
    .validation(Validation::new(check, check_update));

// === Defaults ===

pub fn set_defaults(template: &mut Value) {
    let spec = within(template, "spec").and_then(|spec| within(spec, "spec"));
    if let Some(spec) = spec {
        requests::set_defaults(spec);
    }
}

// === Validation ===

pub fn check(template: &Field<'_>, found: &mut Findings) {
    let spec = template.at("spec");
    let metadata = spec.at("metadata");
    check_annotations(&metadata.at("annotations"), found);
    check_labels(&metadata.at("labels"), found);
    for key in NOT_SET {
        let called = if key == "uid" { "uID" } else { key };
        if is_given(metadata.get(key)) {
            found.forbidden(&metadata.at(called), "cannot be set");
        }
    }
    requests::check_spec(&spec.at("spec"), found);
}

/// Returns whether a value is more than the zero of its type.
fn is_given(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::Array(items) => !items.is_empty(),
        _ => true,
    }
}

pub fn check_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check(new, found);
    let spec = new.at("spec");
    if old.get("spec") != spec.value() {
        found.invalid_struct(&spec, SPEC, "field is immutable");
    }
    if !found.is_on(requests::FIXED_SPEC_NOT_RECHECKED) {
        check(new, found);
    }
}
