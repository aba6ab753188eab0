//! The parts of an object that a JSON patch takes apart.

use serde_json::Value;

use super::{
    apply_operation, kind,
    location::{decoded, index_of},
};
use crate::{read::text, schema::PatchedParts};

/// Returns the parts of `original` that the operations of a JSON patch take apart: all above a path, and all that a test
/// compares. New values are left as they are.
pub fn touched_by(operations: &[Value], original: &Value) -> PatchedParts {
    let mut touched = PatchedParts::default();
    let mut document = original.clone();
    for operation in operations {
        let steps = |field: &str| steps(text(&operation[field]));
        let (path, from) = (steps("path"), steps("from"));
        match kind(operation) {
            Some("test") => touched.reach(names(&path)).touch_all(),
            Some("remove") => leave(&mut touched, &document, &path),
            Some("add" | "replace") => enter(&mut touched, &document, &path, operation),
            Some("copy") => {
                touched.reach(names(above(&from)));
                enter(&mut touched, &document, &path, operation);
            }
            Some("move") => {
                leave(&mut touched, &document, &from);
                enter(&mut touched, &document, &path, operation);
            }
            _ => {}
        }
        if apply_operation(&mut document, operation).is_err() {
            break;
        }
    }
    touched
}

/// Notes that a value is written at a path.
fn enter(touched: &mut PatchedParts, document: &Value, path: &[String], operation: &Value) {
    let Some(name) = path.last() else {
        return;
    };
    let within = touched.reach(names(above(path)));
    match items(document, path) {
        Some(len) if kind(operation) != Some("replace") => {
            if let Ok(index) = index_of(name, len + 1) {
                within.shift(index, true);
            }
        }
        _ => within.forget(name),
    }
}

/// Notes that the value at a path goes.
fn leave(touched: &mut PatchedParts, document: &Value, path: &[String]) {
    let Some(name) = path.last() else {
        return;
    };
    let within = touched.reach(names(above(path)));
    match items(document, path).map(|len| index_of(name, len)) {
        Some(Ok(index)) => within.shift(index, false),
        Some(Err(_)) => {}
        None => within.forget(name),
    }
}

/// Returns the number of items of the list above a path, if it is one.
fn items(document: &Value, path: &[String]) -> Option<usize> {
    let mut value = document;
    for step in above(path) {
        value = match value {
            Value::Array(items) => items.get(step.parse::<usize>().ok()?)?,
            value => value.get(step)?,
        };
    }
    value.as_array().map(Vec::len)
}

fn steps(pointer: &str) -> Vec<String> {
    pointer.split('/').skip(1).map(decoded).collect()
}

fn above(path: &[String]) -> &[String] {
    &path[..path.len().saturating_sub(1)]
}

fn names(path: &[String]) -> impl Iterator<Item = &str> {
    path.iter().map(String::as_str)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn containers_above_a_path_are_touched_and_new_values_are_not() {
        let object = json!({"a": {"b": {"c": 1}}, "l": [{"x": 1}, {"y": {"z": 1}}]});
        let operations = json!([
            {"op": "replace", "path": "/a/b", "value": {"d": 1}},
            {"op": "replace", "path": "/l/1/y", "value": 1},
        ]);
        let touched = touched_by(operations.as_array().unwrap(), &object);
        let mut wanted = PatchedParts::default();
        wanted.reach(["a"]);
        wanted.reach(["l", "1"]);
        assert_eq!(touched, wanted);
    }

    #[test]
    fn touched_items_move_with_their_list() {
        let object = json!({"l": [{"x": 1}, {"y": 1}]});
        let operations = json!([
            {"op": "replace", "path": "/l/1/y", "value": 2},
            {"op": "add", "path": "/l/0", "value": "new"},
            {"op": "remove", "path": "/l/1"},
        ]);
        let touched = touched_by(operations.as_array().unwrap(), &object);
        let mut wanted = PatchedParts::default();
        wanted.reach(["l", "1"]);
        assert_eq!(touched, wanted);
    }

    #[test]
    fn all_that_a_test_compares_is_touched() {
        let operations = json!([{"op": "test", "path": "/a", "value": {"b": 1}}]);
        let touched = touched_by(operations.as_array().unwrap(), &json!({"a": {"b": 1}}));
        let mut wanted = PatchedParts::default();
        wanted.reach(["a"]).touch_all();
        assert_eq!(touched, wanted);
    }
}
