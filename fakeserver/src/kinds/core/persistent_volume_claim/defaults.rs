//! Defaults and preparation of claims.

use serde_json::{Value, json};

use crate::{
    kinds::claim_spec,
    value::edit::{set, within},
};

pub(crate) fn set_defaults(claim: &mut Value) {
    if let Some(spec) = within(claim, "spec") {
        claim_spec::set_defaults(spec);
    }
}

/// Removes the status that a client gives a new claim.
pub(crate) fn prepare(claim: &mut Value) {
    claim["status"] = json!({});
}

/// Sets the phase of a claim. Preparation removes it, and a real server sets it again when it reads the object.
pub(crate) fn set_status_defaults(claim: &mut Value) {
    set(&mut claim["status"], "phase", json!("Pending"));
}
