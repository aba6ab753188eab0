//! Reads untyped JSON: a value that is absent or of another type reads as empty.

use serde_json::Value;

/// Returns a text; empty without one.
pub fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Returns an integer; 0 without one.
pub fn number(value: &Value) -> i64 {
    value.as_i64().unwrap_or_default()
}

/// Returns the items of a list; none without one.
pub fn items(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
