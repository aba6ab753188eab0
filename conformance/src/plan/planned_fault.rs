//! A fault of a plan: a fault of the fake server, with its time and its target.

use fakeserver::faults::Fault;
use serde::{Deserialize, Deserializer, Serialize, de::Error};
use serde_json::{Value, json};

/// A fault of a plan, with its time and its target.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct PlannedFault {
    /// Its beginning.
    pub at_ms: u64,
    /// Its duration. A fault that happens at one moment, such as `compact`, ignores it.
    pub for_ms: u64,
    /// The informer that it affects, by its place in the plan; all if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub informer: Option<usize>,
    /// The number of occasions (requests or frames) that pass before it fires.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub skip: u64,
    /// The most firings; unlimited if `None`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<u64>,
    /// The fault.
    ///
    /// In a plan's text it is its name, or an object of its name and its parameters:
    /// `{"throttle":{"retryAfterSeconds":3}}`. The forms of older plans, `{"throttle":3}` and names with hyphens, are read
    /// too.
    #[serde(deserialize_with = "read")]
    pub kind: Fault,
}

// === impl PlannedFault ===

impl PlannedFault {
    /// Returns the fault `kind` for all informers, at every occasion from `at_ms` on for `for_ms`.
    pub fn new(at_ms: u64, for_ms: u64, kind: Fault) -> Self {
        Self {
            at_ms,
            for_ms,
            informer: None,
            skip: 0,
            times: None,
            kind,
        }
    }

    setters! {
        /// Restricts it to one informer, by its place in the plan.
        for_informer(informer: usize) |this| this.informer = Some(informer);
        /// Lets `skip` occasions pass first.
        after(skip: u64) |this| this.skip = skip;
        /// Lets it fire `times` times at most.
        times(times: u64) |this| this.times = Some(times);
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde calls it with a reference"
)]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Reads a fault in the present form, or in one of older plans.
fn read<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Fault, D::Error> {
    let value = Value::deserialize(deserializer)?;
    Fault::deserialize(modern(value)).map_err(D::Error::custom)
}

/// Converts a form of older plans to the present one.
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

/// Converts a name to the fault with the defaults of its parameters.
fn with_defaults(name: &str) -> Value {
    match Fault::named(name) {
        Some(fault) => json!(fault),
        None => json!(name),
    }
}
