//! JSON patches and merge patches, as a real server applies them: by a library that goes beyond the standards.
//!
//! A member that is not there can be replaced, tested and copied as if it was null, and items of a list are counted from its end
//! by negative indices.

use serde_json::{Map, Value, json};

/// A patch cannot be applied to a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the patch does not apply")]
pub struct InapplicablePatch;

/// An object or a list, in which an operation finds its member.
enum Container<'a> {
    Object(&'a mut Map<String, Value>),
    List(&'a mut Vec<Value>),
}

/// Applies an operation of a JSON patch.
///
/// # Errors
///
/// The operation is unknown, a path leads nowhere, or a test fails.
pub fn apply_operation(document: &mut Value, operation: &Value) -> Result<(), InapplicablePatch> {
    let text = |field: &str| operation[field].as_str().ok_or(InapplicablePatch);
    let value = || operation["value"].clone();
    let path = text("path");
    match kind(operation) {
        Some("add") => add(document, path?, value()),
        Some("remove") => take(document, path?).map(drop),
        Some("replace") => replace(document, path?, value()),
        Some("test") => {
            let found = match path? {
                "" => document.clone(),
                path => get(document, path)?,
            };
            is_same(&found, &operation["value"])
                .then_some(())
                .ok_or(InapplicablePatch)
        }
        Some("copy") => {
            let copied = get(document, text("from")?)?;
            add(document, path?, copied)
        }
        Some("move") => {
            let moved = take(document, text("from")?)?;
            add(document, path?, moved)
        }
        _ => Err(InapplicablePatch),
    }
}

/// Returns the kind of an operation, such as `add`.
pub fn kind(operation: &Value) -> Option<&str> {
    operation.get("op")?.as_str()
}

/// Returns why an operation does not apply to a document, in the words of a real server.
pub fn failure(document: &Value, operation: &Value) -> String {
    let op = kind(operation).unwrap_or_default();
    let path = operation["path"].as_str().unwrap_or_default();
    let (parent, key) = path.rsplit_once('/').unwrap_or(("", path));
    let parent = document.pointer(parent);
    let has_parent = parent.is_some_and(|parent| parent.is_object() || parent.is_array());
    match op {
        "add" | "remove" | "replace" | "move" | "copy" if !has_parent => {
            format!("{op} operation does not apply: doc is missing path: {path:?}: missing value")
        }
        "remove" if document.pointer(path).is_none() => format!(
            "error in remove for path: '{path}': Unable to remove nonexistent key: {key}: missing value"
        ),
        "replace" => {
            format!("replace operation does not apply: doc is missing key: {path}: missing value")
        }
        "test" => format!("testing value {path} failed: test failed"),
        "add" | "remove" | "move" | "copy" => format!(
            "error in {op} for path: '{path}': Unable to access invalid index: {key}: invalid index referenced"
        ),
        op => format!("Unexpected kind: {op}"),
    }
}

/// Returns the value to which the `from` of an operation leads, if it has one.
pub fn source(document: &mut Value, operation: &Value) -> Option<Value> {
    get(document, operation["from"].as_str()?).ok()
}

/// Returns the operations of a JSON patch (RFC 6902) that lead from `before` to `after`. Lists go item by item.
pub fn difference(before: &Value, after: &Value) -> Vec<Value> {
    let mut operations = Vec::new();
    push_difference(before, after, "", &mut operations);
    operations
}

/// Applies a merge patch. Members that are null within a new member are left out.
pub fn merge_document(document: &mut Value, patch: &Value) {
    let Some(patch) = patch.as_object() else {
        *document = patch.clone();
        return;
    };
    let Some(members) = document.as_object_mut() else {
        *document = without_nulls(&Value::Object(patch.clone()));
        return;
    };
    for (name, value) in patch {
        match members.get_mut(name) {
            _ if value.is_null() => {
                members.remove(name);
            }
            None | Some(Value::Null) => {
                members.insert(name.clone(), without_nulls(value));
            }
            Some(member) => merge_document(member, value),
        }
    }
}

/// Appends the operations that lead from `before` to `after`, which are at `path`.
fn push_difference(before: &Value, after: &Value, path: &str, operations: &mut Vec<Value>) {
    let add = |path: String, value: &Value| json!({"op": "add", "path": path, "value": value});
    let remove = |path: String| json!({"op": "remove", "path": path});
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            let at = |name: &str| format!("{path}/{}", name.replace('~', "~0").replace('/', "~1"));
            for (name, value) in after {
                match before.get(name) {
                    Some(known) => push_difference(known, value, &at(name), operations),
                    None => operations.push(add(at(name), value)),
                }
            }
            let gone = before.keys().filter(|name| !after.contains_key(*name));
            operations.extend(gone.map(|name| remove(at(name))));
        }
        (Value::Array(before), Value::Array(after)) => {
            let at = |index: usize| format!("{path}/{index}");
            for (index, value) in after.iter().enumerate() {
                match before.get(index) {
                    Some(known) => push_difference(known, value, &at(index), operations),
                    None => operations.push(add(at(index), value)),
                }
            }
            // Each removal moves the next item to the same index.
            let gone = after.len()..before.len();
            operations.extend(gone.map(|_| remove(at(after.len()))));
        }
        (before, after) if before == after => {}
        (_, after) => operations.push(json!({"op": "replace", "path": path, "value": after})),
    }
}

/// Removes members that are null, at any depth: they delete nothing.
pub(super) fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Object(members) => members
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| (name.clone(), without_nulls(value)))
            .collect::<Map<_, _>>()
            .into(),
        Value::Array(items) => items.iter().map(without_nulls).collect(),
        other => other.clone(),
    }
}

/// Compares a value with that of a test. A real server compares texts as they are written: its own has escapes in place of
/// the characters that mean something in HTML, which clients send as they are.
fn is_same(found: &Value, tested: &Value) -> bool {
    match (found, tested) {
        (Value::String(found), Value::String(tested)) => {
            found == tested && !found.contains(['<', '>', '&', '\u{2028}', '\u{2029}'])
        }
        (Value::Array(found), Value::Array(tested)) => {
            let mut both = found.iter().zip(tested);
            found.len() == tested.len() && both.all(|(found, tested)| is_same(found, tested))
        }
        (Value::Object(found), Value::Object(tested)) => {
            let mut both = found.iter().map(|(name, found)| (found, tested.get(name)));
            found.len() == tested.len()
                && both.all(|(found, tested)| tested.is_some_and(|tested| is_same(found, tested)))
        }
        (found, tested) => found == tested,
    }
}

fn add(document: &mut Value, path: &str, value: Value) -> Result<(), InapplicablePatch> {
    let (container, key) = find(document, path)?;
    match container {
        Container::Object(members) => {
            members.insert(key, value);
        }
        Container::List(items) if key == "-" => items.push(value),
        Container::List(items) => {
            let index = index_of(&key, items.len() + 1)?;
            items.insert(index, value);
        }
    }
    Ok(())
}

fn replace(document: &mut Value, path: &str, value: Value) -> Result<(), InapplicablePatch> {
    if path.is_empty() {
        if !value.is_object() && !value.is_array() {
            return Err(InapplicablePatch);
        }
        *document = value;
        return Ok(());
    }
    let (container, key) = find(document, path)?;
    match container {
        Container::Object(members) => {
            members.insert(key, value);
        }
        Container::List(items) => {
            let index = index_of(&key, items.len())?;
            items[index] = value;
        }
    }
    Ok(())
}

/// Returns the value at `path`. A member that its object does not have is null.
fn get(document: &mut Value, path: &str) -> Result<Value, InapplicablePatch> {
    let (container, key) = find(document, path)?;
    match container {
        Container::Object(members) => Ok(members.get(&key).cloned().unwrap_or_default()),
        Container::List(items) => Ok(items[index_of(&key, items.len())?].clone()),
    }
}

fn take(document: &mut Value, path: &str) -> Result<Value, InapplicablePatch> {
    let (container, key) = find(document, path)?;
    match container {
        Container::Object(members) => members.remove(&key).ok_or(InapplicablePatch),
        Container::List(items) => {
            let index = index_of(&key, items.len())?;
            Ok(items.remove(index))
        }
    }
}

/// Returns the container to which all of `path` but its last part leads, and that part.
fn find<'a>(
    document: &'a mut Value,
    path: &str,
) -> Result<(Container<'a>, String), InapplicablePatch> {
    let (_, parts) = path.split_once('/').ok_or(InapplicablePatch)?;
    let mut parts: Vec<String> = parts.split('/').map(decoded).collect();
    let key = parts.pop().ok_or(InapplicablePatch)?;
    let mut within = document;
    for part in parts {
        within = match within {
            Value::Object(members) => members.get_mut(&part).ok_or(InapplicablePatch)?,
            Value::Array(items) => {
                let index = index_of(&part, items.len())?;
                &mut items[index]
            }
            _ => return Err(InapplicablePatch),
        };
    }
    match within {
        Value::Object(members) => Ok((Container::Object(members), key)),
        Value::Array(items) => Ok((Container::List(items), key)),
        _ => Err(InapplicablePatch),
    }
}

/// Returns the index that `key` names in a list of `len` items.
pub(super) fn index_of(key: &str, len: usize) -> Result<usize, InapplicablePatch> {
    let index: i64 = key.parse().map_err(|_| InapplicablePatch)?;
    let index = if index < 0 {
        usize::try_from(index.unsigned_abs())
            .ok()
            .and_then(|back| len.checked_sub(back))
    } else {
        usize::try_from(index).ok()
    };
    index.filter(|index| *index < len).ok_or(InapplicablePatch)
}

pub(super) fn decoded(part: &str) -> String {
    part.replace("~1", "/").replace("~0", "~")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patched(operations: &Value) -> Result<Value, InapplicablePatch> {
        let mut document = json!({"a": {"b": 1}, "l": [1, 2, 3]});
        for operation in operations.as_array().expect("a list") {
            apply_operation(&mut document, operation)?;
        }
        Ok(document)
    }

    #[test]
    fn negative_indices_count_from_the_end() {
        let operations = json!([
            {"op": "replace", "path": "/l/-1", "value": 9},
            {"op": "test", "path": "/l/2", "value": 9},
            {"op": "add", "path": "/l/-1", "value": 4},
            {"op": "remove", "path": "/l/-4"},
        ]);
        let document = patched(&operations).unwrap();
        assert_eq!(document["l"], json!([2, 9, 4]));
        patched(&json!([{"op": "remove", "path": "/l/-4"}])).unwrap_err();
    }

    #[test]
    fn members_that_are_not_there_are_null() {
        let operations = json!([
            {"op": "test", "path": "/a/x", "value": null},
            {"op": "replace", "path": "/a/y", "value": 2},
            {"op": "copy", "from": "/a/z", "path": "/a/b"},
            {"op": "add", "path": "/c"},
        ]);
        let document = patched(&operations).unwrap();
        assert_eq!(document["a"], json!({"b": null, "y": 2}));
        assert_eq!(document.get("c"), Some(&Value::Null));
        patched(&json!([{"op": "remove", "path": "/a/x"}])).unwrap_err();
        patched(&json!([{"op": "test", "path": "/x/y", "value": null}])).unwrap_err();
    }

    #[test]
    fn texts_with_characters_of_html_pass_no_test() {
        let test = |text: &str| {
            let operation = json!({"op": "test", "path": "/a", "value": [text]});
            apply_operation(&mut json!({"a": [text]}), &operation)
        };
        assert_eq!(test("1 + 1"), Ok(()));
        assert_eq!(test("1 < 2"), Err(InapplicablePatch));
    }

    #[test]
    fn operations_have_a_known_kind_and_a_path() {
        for operation in [
            json!({"op": "bogus", "path": "/a"}),
            json!({"op": "add", "value": 1}),
            json!({"op": "add", "path": "", "value": {}}),
            json!({"op": "copy", "path": "/a"}),
            Value::Null,
        ] {
            patched(&json!([operation])).unwrap_err();
        }
    }

    #[test]
    fn differences_lead_from_one_value_to_another() {
        let values = [
            json!(null),
            json!([]),
            json!([1, {"a": 2}, [3]]),
            json!([1, {"a": [2], "b": null}, [3], 4, 5]),
            json!({"a/b": {"~": 1}, "": [0]}),
            json!({"a/b": {"~": 2, "c": null}, "d": {}}),
        ];
        for before in &values {
            for after in &values {
                let mut patched = before.clone();
                let patch: json_patch::Patch =
                    serde_json::from_value(difference(before, after).into()).unwrap();
                json_patch::patch(&mut patched, &patch).unwrap();
                assert_eq!(patched, *after, "{patch}");
                // Traces of earlier versions have these operations.
                assert_eq!(patch, json_patch::diff(before, after));
            }
        }
    }

    #[test]
    fn merges_leave_nulls_out_of_new_members() {
        let mut document = json!({"a": {"b": 1}});
        let patch = json!({"a": {"b": null, "c": [{"d": null}]}, "l": [{"e": null}]});
        merge_document(&mut document, &patch);
        assert_eq!(document, json!({"a": {"c": [{}]}, "l": [{}]}));
        merge_document(&mut document, &json!({"l": [{"e": null}]}));
        assert_eq!(document["l"], json!([{"e": null}]));
    }
}
