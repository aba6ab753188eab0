//! Classes of ingresses.

use serde_json::{Value, json};

use super::{set, within};

pub(super) fn set_defaults(class: &mut Value) {
    if let Some(parameters) = within(class, "spec").and_then(|spec| within(spec, "parameters")) {
        set(parameters, "scope", json!("Cluster"));
    }
}
