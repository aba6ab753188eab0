//! Flow schemas.

use serde_json::{Value, json};

use crate::{
    kinds::{Habits, Kind},
    value::edit::within,
};

const PRECEDENCE: u32 = 1_000;

/// Flow schemas.
pub(crate) static KIND: Kind = Kind::new("flowcontrol.apiserver.k8s.io", "flowschemas")
    .habits(Habits {
        has_generation: true,
        ..Habits::COMMON
    })
    .defaults(set_defaults);

pub(crate) fn set_defaults(schema: &mut Value) {
    if let Some(spec) = within(schema, "spec")
        && spec["matchingPrecedence"].as_i64().unwrap_or_default() == 0
    {
        spec["matchingPrecedence"] = json!(PRECEDENCE);
    }
}
