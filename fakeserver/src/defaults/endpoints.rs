//! Endpoints and endpoint slices.

use serde_json::{Value, json};

use super::{each, set};

pub(super) fn set_defaults(endpoints: &mut Value) {
    for subset in each(endpoints, "subsets") {
        for port in each(subset, "ports") {
            set(port, "protocol", json!("TCP"));
        }
    }
}

pub(super) fn set_slice_defaults(slice: &mut Value) {
    for port in each(slice, "ports") {
        set(port, "name", json!(""));
        set(port, "protocol", json!("TCP"));
    }
}
