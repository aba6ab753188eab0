//! Horizontal pod autoscalers.

use serde_json::{Value, json};

use super::{set, within};

pub(super) fn set_defaults(autoscaler: &mut Value) {
    if let Some(spec) = within(autoscaler, "spec") {
        set(spec, "minReplicas", json!(1));
    }
}
