//! Defaults and preparation of claims.

use fakeserver_value::edit::{set, within};
use serde_json::{Value, json};

use crate::{claim_spec, resource_names::round_amounts};

pub fn set_defaults(claim: &mut Value) {
    if let Some(spec) = within(claim, "spec") {
        claim_spec::set_defaults(spec);
    }
    for list in ["capacity", "allocatedResources"] {
        if let Some(amounts) = within(claim, "status").and_then(|status| within(status, list)) {
            round_amounts(amounts);
        }
    }
}

/// Prepares the sources of data in a claim that replaces another.
pub fn prepare_update(old: &Value, claim: &mut Value) {
    if let Some(spec) = within(claim, "spec") {
        claim_spec::set_data_sources(&old["spec"], spec);
    }
}

/// Removes the status that a client gives a new claim, and prepares its sources of data.
pub fn prepare(claim: &mut Value) {
    claim["status"] = json!({});
    prepare_update(&Value::Null, claim);
}

/// Sets the phase of a claim. Preparation removes it, and a real server sets it again when it reads the object.
pub fn set_status_defaults(claim: &mut Value) {
    set(&mut claim["status"], "phase", json!("Pending"));
}
