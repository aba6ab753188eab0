//! Capacities of storage.

use fakeserver_value::{field::Field, findings::Findings};

use crate::{
    Habits, Kind, MetadataRechecks, Validation,
    formats::{check_label_selector, check_subdomain, quantity},
};

const SELECTOR: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector";

/// Capacities of storage.
pub static KIND: Kind = Kind::new("storage.k8s.io", "csistoragecapacities")
    .habits(Habits {
        requires_version: true,
        metadata_rechecks: MetadataRechecks::ALL,
        ..Habits::COMMON
    })
    .validation(Validation::new(check, check_update));

// === Validation ===

pub fn check(capacity: &Field<'_>, found: &mut Findings) {
    check_label_selector(&capacity.at("nodeTopology"), found);
    let class = capacity.at("storageClassName");
    check_subdomain(&class, found);
    let amount = capacity.at("capacity");
    if amount.is_set() && quantity(amount.value()).is_negative() {
        found.invalid(&amount, "must be greater than or equal to 0");
    }
}

pub fn check_update(old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check(new, found);
    let topology = new.at("nodeTopology");
    if !topology.is_set() && !old.get("nodeTopology").is_null() {
        found.invalid(&topology, "field is immutable");
    } else if old.get("nodeTopology") != topology.value() {
        found.invalid_struct(&topology, SELECTOR, "field is immutable");
    }
    found.immutable(&new.at("storageClassName"), &old.at("storageClassName"));
}
