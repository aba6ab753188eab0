//! Merge patches that make one object of another.

use serde_json::{Map, Value};

/// Returns the JSON merge patch that turns `old` into `new`; lists are replaced as a whole.
pub(super) fn merge_patch(old: &Value, new: &Value) -> Value {
    let (Value::Object(old), Value::Object(new)) = (old, new) else {
        return new.clone();
    };
    let mut patch = Map::new();
    for (key, value) in new {
        match old.get(key) {
            Some(before) if before == value => {}
            Some(before) => drop(patch.insert(key.clone(), merge_patch(before, value))),
            None => drop(patch.insert(key.clone(), value.clone())),
        }
    }
    for key in old.keys().filter(|key| !new.contains_key(*key)) {
        patch.insert(key.clone(), Value::Null);
    }
    Value::Object(patch)
}
