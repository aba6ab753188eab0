//! Edits of objects: fields that are set, removed and visited.

use serde_json::{Value, json};

/// Sets a field that is not there, or says nothing.
pub fn set(object: &mut Value, field: &str, default: Value) {
    if is_unset(&object[field]) {
        object[field] = default;
    }
}

/// Sets a field that is not there. A text that is empty stays.
pub fn set_absent(object: &mut Value, field: &str, default: Value) {
    if object[field].is_null() {
        object[field] = default;
    }
}

pub fn remove(object: &mut Value, field: &str) {
    if let Some(object) = object.as_object_mut() {
        object.remove(field);
    }
}

pub fn is_unset(value: &Value) -> bool {
    value.is_null() || value == ""
}

/// The items of a list, to be changed.
pub fn each<'a>(object: &'a mut Value, field: &str) -> impl Iterator<Item = &'a mut Value> {
    let list = object.get_mut(field).and_then(Value::as_array_mut);
    list.into_iter().flatten()
}

/// A struct that is there, to be changed.
pub fn within<'a>(object: &'a mut Value, field: &str) -> Option<&'a mut Value> {
    object.get_mut(field).filter(|value| value.is_object())
}

pub fn copy(from: &Value, to: &mut Value, field: &str) {
    set_or_remove(to, field, from.get(field).cloned());
}

pub fn set_or_remove(object: &mut Value, field: &str, value: Option<Value>) {
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

/// A list or a map without items: the pointer to the struct that has it, its name there, and itself.
pub type EmptyMember = (String, String, Value);

/// Lists the lists and maps of an object that have no items.
pub fn empty_members(object: &Value) -> Vec<EmptyMember> {
    fn look(value: &Value, pointer: &mut String, found: &mut Vec<EmptyMember>) {
        let length = pointer.len();
        match value {
            Value::Object(members) => {
                for (name, value) in members {
                    if is_empty(value) {
                        found.push((pointer.clone(), name.clone(), value.clone()));
                    } else {
                        pointer.push('/');
                        pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
                        look(value, pointer, found);
                        pointer.truncate(length);
                    }
                }
            }
            Value::Array(items) => {
                for (place, item) in items.iter().enumerate() {
                    pointer.push('/');
                    pointer.push_str(&place.to_string());
                    look(item, pointer, found);
                    pointer.truncate(length);
                }
            }
            _ => {}
        }
    }
    let mut found = Vec::new();
    look(object, &mut String::new(), &mut found);
    found
}

/// Returns `object` with the empty lists and maps that were dropped from it, or `None` if none were.
pub fn with_empty(object: &Value, members: &[EmptyMember]) -> Option<Value> {
    let is_gone = |(parent, name, _): &&EmptyMember| {
        let parent = object.pointer(parent).and_then(Value::as_object);
        parent.is_some_and(|parent| parent.get(name).is_none_or(Value::is_null))
    };
    let mut gone = members.iter().filter(is_gone).peekable();
    gone.peek()?;
    let mut object = object.clone();
    for (parent, name, value) in gone {
        if let Some(parent) = object.pointer_mut(parent) {
            parent[name.as_str()] = value.clone();
        }
    }
    Some(object)
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    }
}
