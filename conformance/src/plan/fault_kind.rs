//! What goes wrong: the fake server's faults, in the text form of plans.

use serde::{Deserialize, Deserializer, de::Error};
use serde_json::{Value, json};

/// What goes wrong. All faults of the fake server are plans' faults; what is done behind the API (`compact`, `expire`,
/// `disconnect`) is done once, when the fault begins.
///
/// Its text form is its name, or an object of its name and its parameters: `{"throttle":{"retryAfterSeconds":3}}`. Plans
/// from before there were parameters, with `{"throttle":3}` and hyphens, are read too.
pub use fakeserver::faults::Fault as FaultKind;

/// Reads the text form.
pub(super) fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<FaultKind, D::Error> {
    let value = Value::deserialize(deserializer)?;
    FaultKind::deserialize(modern(value)).map_err(D::Error::custom)
}

/// The form of today of what may be an older one.
fn modern(value: Value) -> Value {
    let fields = match value {
        Value::String(name) => return with_defaults(&name.replace('-', "_")),
        Value::Object(fields) => fields,
        other => return other,
    };
    let mut fields = fields.into_iter();
    let (Some((name, parameters)), None) = (fields.next(), fields.next()) else {
        return json!(null);
    };
    let name = name.replace('-', "_");
    let parameters = match (name.as_str(), parameters.as_u64()) {
        ("throttle", Some(seconds)) => json!({"retryAfterSeconds": seconds}),
        ("server_error", Some(code)) => json!({"code": code}),
        ("latency", Some(ms)) => json!({"requestMs": ms, "frameMs": ms / 10}),
        _ => parameters,
    };
    json!({name: parameters})
}

/// A name stands for the fault without parameters, or for the one with the defaults of them.
fn with_defaults(name: &str) -> Value {
    match FaultKind::named(name) {
        Some(fault) => json!(fault),
        None => json!(name),
    }
}
