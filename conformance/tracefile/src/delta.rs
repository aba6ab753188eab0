//! Differences of two versions of an object: the shorter one of a merge patch and a JSON patch.

use serde_json::{Map, Value, json};

use super::event::NewState;

/// Returns the difference that leads from `before` to `after`. The version of the object is left out, since its change
/// tells it.
pub(super) fn delta(before: &Value, after: &Value) -> NewState {
    let (before, after) = (without_version(before), without_version(after));
    let mut steps = Vec::new();
    compare(&before, &after, &mut String::new(), &mut steps);
    let patch = Value::Array(steps);
    match merge_patch(&before, &after) {
        Some(merge) if merge.to_string().len() <= patch.to_string().len() => NewState::Merge(merge),
        _ => NewState::Patch(patch),
    }
}

/// Returns the object after a change to `before`, at this version.
///
/// # Errors
///
/// The difference is not one of this object.
pub fn applied(
    before: Option<&Value>,
    state: &NewState,
    revision: u64,
) -> Result<Option<Value>, String> {
    let mut value = match state {
        NewState::Gone(_) => return Ok(None),
        NewState::New(value) => return Ok(Some(value.clone())),
        NewState::Merge(_) | NewState::Patch(_) => {
            let before = before.cloned();
            before.ok_or("a difference to an object that is not there")?
        }
    };
    match state {
        NewState::Merge(patch) => json_patch::merge(&mut value, patch),
        NewState::Patch(patch) => {
            let patch: json_patch::Patch =
                serde_json::from_value(patch.clone()).map_err(|error| error.to_string())?;
            json_patch::patch(&mut value, &patch).map_err(|error| error.to_string())?;
        }
        NewState::New(_) | NewState::Gone(_) => {}
    }
    value["metadata"]["resourceVersion"] = revision.to_string().into();
    Ok(Some(value))
}

fn without_version(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("resourceVersion");
    }
    object
}

/// Returns the merge patch, unless there is none: a merge patch cannot set a field to null.
fn merge_patch(before: &Value, after: &Value) -> Option<Value> {
    let (Value::Object(old), Value::Object(new)) = (before, after) else {
        return (!has_null(after)).then(|| after.clone());
    };
    let mut patch = Map::new();
    for key in old.keys().filter(|key| !new.contains_key(*key)) {
        patch.insert(key.clone(), Value::Null);
    }
    for (key, value) in new {
        match old.get(key) {
            Some(known) if known == value => {}
            Some(known @ Value::Object(_)) if value.is_object() => {
                patch.insert(key.clone(), merge_patch(known, value)?);
            }
            _ if has_null(value) => return None,
            _ => {
                patch.insert(key.clone(), value.clone());
            }
        }
    }
    Some(Value::Object(patch))
}

fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.iter().any(has_null),
        Value::Object(fields) => fields.values().any(has_null),
        _ => false,
    }
}

/// Adds the steps that lead from `before` to `after`, which are at `path`.
fn compare(before: &Value, after: &Value, path: &mut String, steps: &mut Vec<Value>) {
    match (before, after) {
        _ if before == after => {}
        (Value::Object(old), Value::Object(new)) => {
            for key in old.keys().filter(|key| !new.contains_key(*key)) {
                within(path, key, |path| {
                    steps.push(json!({"op": "remove", "path": path}));
                });
            }
            for (key, value) in new {
                within(path, key, |path| match old.get(key) {
                    Some(known) => compare(known, value, path, steps),
                    None => steps.push(json!({"op": "add", "path": path, "value": value})),
                });
            }
        }
        (Value::Array(old), Value::Array(new)) => {
            for (place, (known, value)) in old.iter().zip(new).enumerate() {
                within(path, &place.to_string(), |path| {
                    compare(known, value, path, steps);
                });
            }
            // From the end, so that no place moves.
            for place in (new.len()..old.len()).rev() {
                steps.push(json!({"op": "remove", "path": format!("{path}/{place}")}));
            }
            for value in new.iter().skip(old.len()) {
                steps.push(json!({"op": "add", "path": format!("{path}/-"), "value": value}));
            }
        }
        _ => steps.push(json!({"op": "replace", "path": path, "value": after})),
    }
}

/// Does something at a field of `path`.
fn within(path: &mut String, key: &str, act: impl FnOnce(&mut String)) {
    let length = path.len();
    path.push('/');
    path.push_str(&key.replace('~', "~0").replace('/', "~1"));
    act(path);
    path.truncate(length);
}
