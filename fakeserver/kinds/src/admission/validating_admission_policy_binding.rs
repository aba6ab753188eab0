//! Bindings of validating admission policies.

use std::collections::BTreeSet;

use fakeserver_value::{field::Field, findings::Findings};
use serde_json::json;

use crate::{
    Habits, Kind, MetadataRechecks, Validation,
    admission::{
        cells,
        match_resources::{check_binding_spec, set_binding_defaults},
    },
};

const ACTIONS: [&str; 3] = ["Audit", "Deny", "Warn"];

/// Bindings of validating admission policies.
pub static KIND: Kind = Kind::new(
    "admissionregistration.k8s.io",
    "validatingadmissionpolicybindings",
)
.habits(Habits {
    has_generation: true,
    requires_version: true,
    is_exempt_from_webhooks: true,
    metadata_rechecks: MetadataRechecks::WHOLE,
    checks_finalizers: false,
    ..Habits::COMMON
})
.defaults(set_binding_defaults)
.cells(cells::binding)
.validation(Validation::new(check, |_, new, found| check(new, found)));

fn check(binding: &Field<'_>, found: &mut Findings) {
    let spec = binding.at("spec");
    check_binding_spec(&spec, found);
    let actions = spec.at("validationActions");
    let mut seen = BTreeSet::new();
    for action in actions.items() {
        found.optional_one_of(&action, &ACTIONS);
        if !seen.insert(action.text()) {
            found.duplicate_as(&action, &json!(action.text()));
        }
    }
    if seen.contains("Deny") && seen.contains("Warn") {
        found.invalid(
            &actions,
            "must not contain both Deny and Warn (repeating the same validation failure information in the API response and headers serves no purpose)",
        );
    }
    if seen.is_empty() {
        found.required(&actions, "at least one validation action is required");
    }
}
