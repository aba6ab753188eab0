//! Conditions of flow schemas and priority levels.

use std::collections::BTreeSet;

use fakeserver_value::{field::Field, findings::Findings};
use serde_json::json;

/// Checks the conditions of an object's status: each has a type, once.
pub(super) fn check_conditions(object: &Field<'_>, found: &mut Findings) {
    let mut seen = BTreeSet::new();
    for condition in object.at("status").at("conditions").items() {
        let kind = condition.at("type");
        if !seen.insert(kind.text()) {
            found.duplicate_as(&kind, &json!(kind.text()));
        }
        if !kind.has_text() {
            found.required(&kind, "");
        }
    }
}
