//! Network policies.

use serde_json::{Value, json};

use super::{each, set, within};

pub(super) fn set_defaults(policy: &mut Value) {
    let Some(spec) = within(policy, "spec") else {
        return;
    };
    for direction in ["ingress", "egress"] {
        for rule in each(spec, direction) {
            for port in each(rule, "ports") {
                set(port, "protocol", json!("TCP"));
            }
        }
    }
    let has_egress = spec["egress"]
        .as_array()
        .is_some_and(|rules| !rules.is_empty());
    let types = if has_egress {
        json!(["Ingress", "Egress"])
    } else {
        json!(["Ingress"])
    };
    set(spec, "policyTypes", types);
}
