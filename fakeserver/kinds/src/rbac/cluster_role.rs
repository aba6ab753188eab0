//! Cluster roles.

use fakeserver_value::{field::Field, findings::Findings};
use serde_json::Value;

use crate::{
    Kind, Validation,
    formats::{check_label_selector, is_readable_selector},
    rbac::{kind, rule::check_rule},
};

/// Cluster roles.
pub static KIND: Kind = kind(
    "clusterroles",
    Validation::new(check, |_, new, found| check(new, found))
        .repeated_without("RbacUpdateCheckedOnce", check),
);

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
