//! The body of an apply: a configuration in YAML, of which JSON is a subset, or in CBOR.

use fakeserver_value::{
    cbor,
    json::json_type,
    status::Status,
    yaml::{self, repeated_keys},
};
use serde_json::{Value, json};

const CONVERTING: &str = "error converting YAML to JSON: ";

/// Parses an apply configuration; of duplicate keys, the last one counts. An empty body is an empty object.
pub fn parse_config(bytes: &[u8]) -> Result<Value, Status> {
    match yaml::parse(bytes) {
        Ok(Value::Null) => Ok(json!({})),
        Ok(config @ Value::Object(_)) => Ok(config),
        Ok(other) => Err(refused(&format!(
            "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal {} into Go value of type \
             map[string]interface {{}}",
            json_type(&other)
        ))),
        Err(why) => Err(refused(&format!("{CONVERTING}{why}"))),
    }
}

/// Reads a configuration in CBOR.
pub(crate) fn parse_cbor_config(bytes: &[u8]) -> Result<Value, Status> {
    let config = cbor::Document::parse(bytes).and_then(|document| document.object());
    config.map_err(|error| refused(&error.to_string()))
}

/// Returns the error of keys that are there twice in a configuration, which strict reading rejects.
pub fn duplicate_key(bytes: &[u8]) -> Option<String> {
    repeated_keys(bytes).map(|error| format!("{CONVERTING}{error}"))
}

fn refused(why: &str) -> Status {
    Status::bad_request(format!("error decoding YAML: {why}"))
}
