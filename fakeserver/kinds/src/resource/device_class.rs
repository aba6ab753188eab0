//! Classes of devices.

use fakeserver_value::{field::Field, findings::Findings, names::qualified_name_problems};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    Habits, Kind, MetadataRechecks, Validation,
    resource::{
        configuration::{check_configuration, check_selectors},
        names::at_most,
    },
    table::cell::{Cells, age, name},
};

const CONFIGURATIONS_MAX: usize = 32;

/// Classes of devices.
pub static KIND: Kind = Kind::new("resource.k8s.io", "deviceclasses")
    .habits(Habits {
        has_generation: true,
        returns_deleted: true,
        checks_prefix: false,
        metadata_rechecks: MetadataRechecks::ALL,
        ..Habits::COMMON
    })
    .validation(Validation::new(check, check_update))
    .cells(cells);

// === Validation ===

pub fn check(class: &Field<'_>, found: &mut Findings) {
    let spec = class.at("spec");
    check_selectors(&spec.at("selectors"), found);
    for configuration in at_most(&spec.at("config"), CONFIGURATIONS_MAX, found) {
        check_configuration(&configuration, found);
    }
    let resource = spec.at("extendedResourceName");
    if resource.is_set() && !is_extended_resource(resource.text()) {
        found.invalid(&resource, "must be a valid extended resource name");
    }
}

/// Returns whether a name is that of a resource outside the domain of Kubernetes.
fn is_extended_resource(name: &str) -> bool {
    let is_native = !name.contains('/') || name.contains("kubernetes.io/");
    !is_native
        && !name.starts_with("requests.")
        && qualified_name_problems(&format!("requests.{name}")).is_empty()
}

pub fn check_update(_old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    if !found.is_on("DeviceClassUpdateCheckedOnce") {
        check(new, found);
    }
    check(new, found);
}

// === Cells ===

pub fn cells(object: &Value, now: Timestamp) -> Cells {
    vec![json!(name(object)), json!(age(object, now))]
}
