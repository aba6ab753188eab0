//! Cluster roles.

use fakeserver_value::{field::Field, findings::Findings, names::path_segment_problems};
use serde_json::Value;

use crate::{
    Habits, Kind, MetadataRechecks, Validation,
    formats::{check_label_selector, is_readable_selector},
    rbac::rule::check_rule,
};

/// Cluster roles.
pub static KIND: Kind = Kind::new("rbac.authorization.k8s.io", "clusterroles")
    .habits(Habits {
        creates_on_update: true,
        metadata_rechecks: MetadataRechecks::ALL,
        ..Habits::COMMON
    })
    .names(path_segment_problems)
    .validation(Validation::new(check, check_update));

pub fn check(role: &Field<'_>, found: &mut Findings) {
    for rule in role.at("rules").items() {
        check_rule(&rule, false, found);
    }
    let selectors = role.at("aggregationRule").at("clusterRoleSelectors");
    if role.at("aggregationRule").is_set() && selectors.is_empty() {
        found.required(
            &selectors,
            "at least one clusterRoleSelector required if aggregationRule is non-nil",
        );
    }
    for selector in selectors.items() {
        check_label_selector(&selector, found);
        if !is_readable_selector(selector.value()) {
            found.invalid_as(&selector, &Value::Null, "invalid label selector.");
        }
    }
}

pub fn check_update(_old: &Field<'_>, new: &Field<'_>, found: &mut Findings) {
    check(new, found);
}
