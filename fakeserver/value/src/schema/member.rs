//! Members of objects that a text may have twice.

use serde_json::{Map, Value, map::Entry};

use super::types::{Field, Shape};

/// Puts a value into a field that may have been seen before, and says whether it has: structs and maps are read into,
/// everything else replaced.
pub(super) fn store(out: &mut Map<String, Value>, field: &Field, value: Value) -> bool {
    let by_value = field.shape == Shape::Single && !field.pointer;
    let entry = match out.entry(&*field.name) {
        Entry::Vacant(entry) => {
            entry.insert(value);
            return false;
        }
        Entry::Occupied(entry) => entry.into_mut(),
    };
    match (entry, value) {
        (_, Value::Null) if by_value => {}
        (Value::Object(old), Value::Object(new)) => merge(old, new),
        (old, value) => *old = value,
    }
    true
}

fn merge(old: &mut Map<String, Value>, new: Map<String, Value>) {
    for (key, value) in new {
        match (old.get_mut(&key), value) {
            (Some(Value::Object(old)), Value::Object(new)) => merge(old, new),
            (_, value) => {
                old.insert(key, value);
            }
        }
    }
}
