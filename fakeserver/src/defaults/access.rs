//! Bindings of roles.

use serde_json::{Value, json};

use super::{each, set, within};

const GROUP: &str = "rbac.authorization.k8s.io";

pub(super) fn set_defaults(binding: &mut Value) {
    if let Some(role) = within(binding, "roleRef") {
        set(role, "apiGroup", json!(GROUP));
    }
    for subject in each(binding, "subjects") {
        if matches!(subject["kind"].as_str(), Some("User" | "Group")) {
            set(subject, "apiGroup", json!(GROUP));
        }
    }
}
