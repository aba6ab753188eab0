//! JSON patches and merge patches, as a real server applies them: by a library that goes beyond the standards.
//!
//! A member that is not there can be replaced, tested and copied as if it was null, and items of a list are counted from its end
//! by negative indices.

use serde_json::{Map, Value, json};

use super::location::{MISSING, find};
use crate::json::json_type;

/// A patch cannot be applied to a document, for a reason in the words of a real server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InapplicablePatch(String);

/// Applies an operation of a JSON patch.
///
/// # Errors
///
/// The operation is unknown, a path leads nowhere, or a test fails.
pub fn apply_operation(document: &mut Value, operation: &Value) -> Result<(), InapplicablePatch> {
    let value = || operation["value"].clone();
    let applied = match kind(operation) {
        Some("add") => add(document, operation, value()),
        Some("remove") => remove(document, operation),
        Some("replace") => replace(document, operation, value()),
        Some("test") => test(document, operation),
        Some("copy") => copy(document, operation),
        Some("move") => move_value(document, operation),
        other => Err(format!("Unexpected kind: {}", other.unwrap_or("unknown"))),
    };
    applied.map_err(InapplicablePatch)
}

/// Returns the kind of an operation, such as `add`.
pub fn kind(operation: &Value) -> Option<&str> {
    operation.get("op")?.as_str()
}

/// Returns the value to which the `from` of an operation leads, if it has one.
pub fn source<'a>(document: &'a mut Value, operation: &Value) -> Option<&'a Value> {
    find(document, operation["from"].as_str()?)?.get().ok()?
}

/// Returns the number of items in the lists that an operation changes, which may all have to move.
pub fn changed_items(document: &mut Value, operation: &Value) -> usize {
    let paths = ["path", "from"].map(|field| operation[field].as_str());
    let lengths = paths.into_iter().flatten().map(|path| {
        let location = find(document, path);
        location.map_or(0, |location| location.item_count())
    });
    lengths.sum()
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

fn add(document: &mut Value, operation: &Value, value: Value) -> Result<(), String> {
    let path = text(operation, "path")
        .map_err(|_| format!("add operation failed to decode path: {MISSING}"))?;
    let place = find(document, path).ok_or_else(|| {
        format!("add operation does not apply: doc is missing path: \"{path}\": {MISSING}")
    })?;
    let added = place.add(value);
    added.map_err(|why| format!("error in add for path: '{path}': {why}"))
}

fn remove(document: &mut Value, operation: &Value) -> Result<(), String> {
    let path = text(operation, "path")
        .map_err(|_| format!("remove operation failed to decode path: {MISSING}"))?;
    let place = find(document, path).ok_or_else(|| {
        format!("remove operation does not apply: doc is missing path: \"{path}\": {MISSING}")
    })?;
    let removed = place.take();
    removed
        .map(drop)
        .map_err(|why| format!("error in remove for path: '{path}': {why}"))
}

fn replace(document: &mut Value, operation: &Value, value: Value) -> Result<(), String> {
    let path = text(operation, "path")
        .map_err(|why| format!("replace operation failed to decode path: {why}"))?;
    if path.is_empty() {
        if !value.is_object() && !value.is_array() {
            return Err("replace operation value must be object or array".to_owned());
        }
        *document = value;
        return Ok(());
    }
    let place = find(document, path).ok_or_else(|| {
        format!("replace operation does not apply: doc is missing path: {path}: {MISSING}")
    })?;
    let replaced = place.replace(value);
    replaced.map_err(|_| {
        format!("replace operation does not apply: doc is missing key: {path}: {MISSING}")
    })
}

fn test(document: &mut Value, operation: &Value) -> Result<(), String> {
    let path = text(operation, "path")
        .map_err(|why| format!("test operation failed to decode path: {why}"))?;
    let found = if path.is_empty() {
        Some(&*document)
    } else {
        let place = find(document, path).ok_or_else(|| {
            format!("test operation does not apply: is missing path: {path}: {MISSING}")
        })?;
        let found = place.get();
        found.map_err(|why| format!("error in test for path: '{path}': {why}"))?
    };
    if is_same(found.unwrap_or(&Value::Null), &operation["value"]) {
        Ok(())
    } else {
        Err(format!("testing value {path} failed: test failed"))
    }
}

fn copy(document: &mut Value, operation: &Value) -> Result<(), String> {
    let from = text(operation, "from")
        .map_err(|why| format!("copy operation failed to decode from: {why}"))?;
    let place = find(document, from).ok_or_else(|| {
        format!("copy operation does not apply: doc is missing from path: {from}: {MISSING}")
    })?;
    let copied = place
        .get()
        .map_err(|why| format!("error in copy for from: '{from}': {why}"))?;
    let copied = copied.cloned().unwrap_or_default();
    let path = text(operation, "path")
        .map_err(|_| format!("copy operation failed to decode path: {MISSING}"))?;
    let place = find(document, path).ok_or_else(|| {
        format!("copy operation does not apply: doc is missing destination path: {path}: {MISSING}")
    })?;
    let added = place.add(copied);
    added.map_err(|why| format!("error while adding value during copy: {why}"))
}

fn move_value(document: &mut Value, operation: &Value) -> Result<(), String> {
    let from = text(operation, "from")
        .map_err(|why| format!("move operation failed to decode from: {why}"))?;
    let place = find(document, from).ok_or_else(|| {
        format!("move operation does not apply: doc is missing from path: {from}: {MISSING}")
    })?;
    let key = place.key.clone();
    let moved = place
        .take()
        .map_err(|why| format!("error in move for path: '{key}': {why}"))?;
    let path = text(operation, "path")
        .map_err(|why| format!("move operation failed to decode path: {why}"))?;
    let place = find(document, path).ok_or_else(|| {
        format!("move operation does not apply: doc is missing destination path: {path}: {MISSING}")
    })?;
    let added = place.add(moved);
    added.map_err(|why| format!("error in move for path: '{path}': {why}"))
}

/// Returns a path of an operation.
fn text<'o>(operation: &'o Value, field: &str) -> Result<&'o str, String> {
    match (&operation[field], field) {
        (Value::String(text), _) => Ok(text),
        (Value::Null, "path") => Err(format!("operation missing path field: {MISSING}")),
        (Value::Null, _) => Err(format!("operation, missing {field} field: {MISSING}")),
        (other, _) => Err(format!(
            "json: cannot unmarshal {} into Go value of type string",
            json_type(other)
        )),
    }
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
        test("1 < 2").unwrap_err();
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
    fn what_does_not_apply_says_why_in_the_words_of_a_real_server() {
        for (operation, why) in [
            (
                json!({"op": "add", "path": "/a/c/d", "value": 1}),
                r#"add operation does not apply: doc is missing path: "/a/c/d": missing value"#,
            ),
            (
                json!({"op": "remove", "path": "/a/b/c"}),
                r#"remove operation does not apply: doc is missing path: "/a/b/c": missing value"#,
            ),
            (
                json!({"op": "replace", "path": "/a/c/d", "value": 1}),
                "replace operation does not apply: doc is missing path: /a/c/d: missing value",
            ),
            (
                json!({"op": "replace", "path": "/l/3", "value": 1}),
                "replace operation does not apply: doc is missing key: /l/3: missing value",
            ),
            (
                json!({"op": "remove", "path": "/a/c"}),
                "error in remove for path: '/a/c': Unable to remove nonexistent key: c: missing value",
            ),
            (
                json!({"op": "remove", "path": "/l/-4"}),
                "error in remove for path: '/l/-4': Unable to access invalid index: -4: invalid index referenced",
            ),
            (
                json!({"op": "remove", "path": "/l/x"}),
                r#"error in remove for path: '/l/x': strconv.Atoi: parsing "x": invalid syntax"#,
            ),
            (
                json!({"op": "add", "path": "/l/x", "value": 1}),
                "error in add for path: '/l/x': value was not a proper array index: 'x': strconv.Atoi: parsing \"x\": \
                 invalid syntax",
            ),
            (
                json!({"op": "add", "path": "/l/9", "value": 1}),
                "error in add for path: '/l/9': Unable to access invalid index: 9: invalid index referenced",
            ),
            (
                json!({"op": "test", "path": "/a/b", "value": 2}),
                "testing value /a/b failed: test failed",
            ),
            (
                json!({"op": "test", "path": "/c/b", "value": 2}),
                "test operation does not apply: is missing path: /c/b: missing value",
            ),
            (
                json!({"op": "test", "path": "/l/7", "value": 2}),
                "error in test for path: '/l/7': Unable to access invalid index: 7: invalid index referenced",
            ),
            (
                json!({"op": "move", "from": "/a/c", "path": "/d"}),
                "error in move for path: 'c': Unable to remove nonexistent key: c: missing value",
            ),
            (
                json!({"op": "move", "from": "/c/d", "path": "/d"}),
                "move operation does not apply: doc is missing from path: /c/d: missing value",
            ),
            (
                json!({"op": "move", "from": "/a/b", "path": "/c/d"}),
                "move operation does not apply: doc is missing destination path: /c/d: missing value",
            ),
            (
                json!({"op": "copy", "from": "/l/5", "path": "/d"}),
                "error in copy for from: '/l/5': Unable to access invalid index: 5: invalid index referenced",
            ),
            (
                json!({"op": "copy", "from": "/a/b", "path": "/l/9"}),
                "error while adding value during copy: Unable to access invalid index: 9: invalid index referenced",
            ),
            (
                json!({"op": "copy", "path": "/d"}),
                "copy operation failed to decode from: operation, missing from field: missing value",
            ),
            (
                json!({"op": "replace", "value": 1}),
                "replace operation failed to decode path: operation missing path field: missing value",
            ),
            (
                json!({"op": "add", "value": 1}),
                "add operation failed to decode path: missing value",
            ),
            (
                json!({"op": "bogus", "path": "/a"}),
                "Unexpected kind: bogus",
            ),
            (json!({"path": "/a"}), "Unexpected kind: unknown"),
        ] {
            let error = patched(&json!([operation])).unwrap_err();
            assert_eq!(error.to_string(), why, "{operation}");
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
