//! Places in an object: its values with their paths and schemas.

use serde_json::Value;

use super::schema::Schema;

/// A value in an object.
#[derive(Clone, Debug)]
pub(super) struct ValuePosition<'a> {
    /// The keys and indices from the root.
    pub(super) path: Vec<String>,
    /// The schema, if it is known.
    pub(super) schema: Option<Schema<'a>>,
}

/// Returns all places below the root, but those within `metadata`.
pub(super) fn places<'a>(object: &Value, schema: Option<Schema<'a>>) -> Vec<ValuePosition<'a>> {
    let mut found = Vec::new();
    let skipped = ["apiVersion", "kind", "metadata"];
    for (key, value) in object.as_object().into_iter().flatten() {
        if !skipped.contains(&key.as_str()) {
            let schema = schema.and_then(|schema| schema.field(key));
            collect(value, schema, vec![key.clone()], &mut found);
        }
    }
    found
}

/// Returns the value at a path.
pub(super) fn at<'v>(object: &'v Value, path: &[String]) -> Option<&'v Value> {
    object.pointer(&pointer(path))
}

/// Returns the value at a path, to be changed.
pub(super) fn at_mut<'v>(object: &'v mut Value, path: &[String]) -> Option<&'v mut Value> {
    object.pointer_mut(&pointer(path))
}

/// Removes the value at a path and returns it.
pub(super) fn remove(object: &mut Value, path: &[String]) -> Option<Value> {
    let (last, above) = path.split_last()?;
    match at_mut(object, above)? {
        Value::Object(fields) => fields.remove(last),
        Value::Array(items) => {
            let index = last
                .parse::<usize>()
                .ok()
                .filter(|index| *index < items.len())?;
            Some(items.remove(index))
        }
        _ => None,
    }
}

/// Formats a path as a JSON pointer.
pub(super) fn pointer(path: &[String]) -> String {
    let mut pointer = String::new();
    for part in path {
        pointer.push('/');
        pointer.push_str(&escaped(part));
    }
    pointer
}

/// Escapes a key for a JSON pointer.
fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

fn collect<'a>(
    value: &Value,
    schema: Option<Schema<'a>>,
    path: Vec<String>,
    found: &mut Vec<ValuePosition<'a>>,
) {
    let below = |part: String| [path.clone(), vec![part]].concat();
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                let schema = schema.and_then(|schema| schema.field(key));
                collect(value, schema, below(key.clone()), found);
            }
        }
        Value::Array(items) => {
            let schema = schema.and_then(Schema::items);
            for (index, value) in items.iter().enumerate() {
                collect(value, schema, below(index.to_string()), found);
            }
        }
        _ => {}
    }
    found.push(ValuePosition { path, schema });
}
