//! Pod disruption budgets.

use fakeserver_value::{field::Field, findings::Findings, read::number};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    Habits, Kind, MetadataRechecks, Validation,
    formats::{check_at_most_all, check_conditions, check_label_selector, check_share},
    table::cell::{Cells, age, bound, name},
};

/// Pod disruption budgets.
pub static KIND: Kind = Kind::new("policy", "poddisruptionbudgets")
    .habits(Habits {
        has_generation: true,
        requires_version: true,
        metadata_rechecks: MetadataRechecks::NONE,
        subresource_rechecks: MetadataRechecks::NONE,
        checks_new_metadata: false,
        checks_finalizers: false,
        ..Habits::COMMON
    })
    .validation(Validation::new(check, check_update).with(&[("status", check_status)]))
    .cells(cells);

// === Validation ===

pub fn check(budget: &Field<'_>, found: &mut Findings) {
    let spec = budget.at("spec");
    let shares = [spec.at("minAvailable"), spec.at("maxUnavailable")];
    if shares.iter().all(Field::is_set) {
        found.invalid_struct(
            &spec,
            "io.k8s.api.policy.v1.PodDisruptionBudgetSpec",
            "minAvailable and maxUnavailable cannot be both set",
        );
    }
    for share in shares.iter().filter(|share| share.is_set()) {
        check_share(share, found);
        check_at_most_all(share, found);
    }
    check_label_selector(&spec.at("selector"), found);
    found.optional_one_of(
        &spec.at("unhealthyPodEvictionPolicy"),
        &["AlwaysAllow", "IfHealthyBudget"],
    );
}

pub fn check_update(_old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check(new, found);
}

/// An update through `status`.
pub fn check_status(_old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check_conditions(&new.at("status").at("conditions"), found);
    for count in [
        "disruptionsAllowed",
        "currentHealthy",
        "desiredHealthy",
        "expectedPods",
    ] {
        found.non_negative(&new.at("status").at(count));
    }
}

// === Cells ===

pub fn cells(object: &Value, now: Timestamp) -> Cells {
    let spec = &object["spec"];
    vec![
        json!(name(object)),
        json!(bound(&spec["minAvailable"])),
        json!(bound(&spec["maxUnavailable"])),
        json!(number(&object["status"]["disruptionsAllowed"])),
        json!(age(object, now)),
    ]
}
