//! Edits of objects: fields that are set, removed and visited.

use serde_json::{Value, json};

/// Sets a field that is not there, or says nothing.
pub(crate) fn set(object: &mut Value, field: &str, default: Value) {
    if is_unset(&object[field]) {
        object[field] = default;
    }
}

/// Sets a field that is not there. A text that is empty stays.
pub(crate) fn set_absent(object: &mut Value, field: &str, default: Value) {
    if object[field].is_null() {
        object[field] = default;
    }
}

pub(crate) fn remove(object: &mut Value, field: &str) {
    if let Some(object) = object.as_object_mut() {
        object.remove(field);
    }
}

pub(crate) fn is_unset(value: &Value) -> bool {
    value.is_null() || value == ""
}

/// The items of a list, to be changed.
pub(crate) fn each<'a>(object: &'a mut Value, field: &str) -> impl Iterator<Item = &'a mut Value> {
    let list = object.get_mut(field).and_then(Value::as_array_mut);
    list.into_iter().flatten()
}

/// A struct that is there, to be changed.
pub(crate) fn within<'a>(object: &'a mut Value, field: &str) -> Option<&'a mut Value> {
    object.get_mut(field).filter(|value| value.is_object())
}

pub(crate) fn copy(from: &Value, to: &mut Value, field: &str) {
    set_or_remove(to, field, from.get(field).cloned());
}

pub(crate) fn set_or_remove(object: &mut Value, field: &str, value: Option<Value>) {
    match (object.as_object_mut(), value) {
        (Some(object), Some(value)) => {
            object.insert(field.to_owned(), value);
        }
        (Some(object), None) => {
            object.remove(field);
        }
        (None, Some(value)) => *object = json!({ field: value }),
        (None, None) => {}
    }
}
