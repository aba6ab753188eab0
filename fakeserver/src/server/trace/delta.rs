//! Differences of two versions of an object as merge patches.

use serde_json::{Map, Value};

/// Returns the merge patch (RFC 7386) that leads from `before` to `after`; `None` if no merge patch does, since it cannot set
/// a member to null.
pub(super) fn merge_patch(before: &Value, after: &Value) -> Option<Value> {
    let (Value::Object(before), Value::Object(after)) = (before, after) else {
        return (!has_null(after)).then(|| after.clone());
    };
    let mut patch = Map::new();
    for name in before.keys().filter(|name| !after.contains_key(*name)) {
        patch.insert(name.clone(), Value::Null);
    }
    for (name, value) in after {
        match before.get(name) {
            Some(known) if known == value => {}
            Some(known) if known.is_object() && value.is_object() => {
                patch.insert(name.clone(), merge_patch(known, value)?);
            }
            _ if has_null(value) => return None,
            _ => {
                patch.insert(name.clone(), value.clone());
            }
        }
    }
    Some(Value::Object(patch))
}

/// Returns whether a value is null or has a member that is. Items of arrays are taken as they are.
fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(members) => members.values().any(has_null),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_patch_has_what_differs() {
        let before = json!({"a": {"b": 1, "c": [1], "d": {}}, "e": 2, "same": {"x": null}});
        let after = json!({"a": {"b": 1, "c": [null], "d": {"f": 3}}, "same": {"x": null}});
        let patch = json!({"a": {"c": [null], "d": {"f": 3}}, "e": null});
        assert_eq!(merge_patch(&before, &after), Some(patch));
        assert_eq!(merge_patch(&after, &after), Some(json!({})));
    }

    #[test]
    fn nothing_becomes_null_by_a_patch() {
        for after in [json!({"a": null}), json!({"a": {"b": null}})] {
            assert_eq!(merge_patch(&json!({}), &after), None, "{after}");
            assert_eq!(merge_patch(&json!({"a": {}}), &after), None, "{after}");
        }
    }
}
