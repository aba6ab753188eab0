//! Data of config maps and secrets.

use fakeserver_value::{field::Field, findings::Findings};
use serde_json::Value;

/// The maximum size of all values together, in bytes.
pub(super) const DATA_MAX_BYTES: usize = 1 << 20;

const FROZEN: &str = "field is immutable when `immutable` is set";

/// Checks that an immutable object does not change.
pub(super) fn check_frozen(
    old: &Field<'_>,
    new: &Field<'_>,
    fields: &[&'static str],
    found: &mut Findings,
) {
    if !old.at("immutable").is_true() {
        return;
    }
    if !new.at("immutable").is_true() {
        found.forbidden(&new.at("immutable"), FROZEN);
    }
    for field in fields {
        if old.get(field) != new.get(field) {
            found.forbidden(&new.at(field), FROZEN);
        }
    }
}

pub(super) fn decoded_len(value: &Value) -> usize {
    let text = value.as_str().unwrap_or_default();
    text.len() / 4 * 3 - text.bytes().rev().take_while(|byte| *byte == b'=').count()
}

pub(super) fn entries(map: &Value) -> usize {
    map.as_object().map_or(0, serde_json::Map::len)
}
