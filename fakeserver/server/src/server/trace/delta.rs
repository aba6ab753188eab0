//! Differences of two versions of an object: the shorter one of a merge patch and a JSON patch.

use fakeserver_value::patch::difference;
use serde_json::{Map, Value};

use super::line::NewState;

/// Returns the difference that leads from `before` to `after`. Lists, such as managed fields, are whole in a merge patch, and
/// go item by item in a JSON patch (RFC 6902).
pub(super) fn delta(before: &Value, after: &Value) -> NewState {
    let patch = Value::from(difference(before, after));
    match merge_patch(before, after) {
        Some(merge) if merge.to_string().len() <= patch.to_string().len() => NewState::Merge(merge),
        _ => NewState::Patch(patch),
    }
}

/// Returns the merge patch (RFC 7386) that leads from `before` to `after`; `None` if no merge patch does, since it cannot set
/// a member to null.
fn merge_patch(before: &Value, after: &Value) -> Option<Value> {
    let (Value::Object(before), Value::Object(after)) = (before, after) else {
        return (!has_null(after)).then(|| after.clone());
    };
    let mut patch = Map::new();
    for name in before.keys().filter(|name| !after.contains_key(*name)) {
        patch.insert(name.clone(), Value::Null);
    }
    for (name, value) in after {
        match before.get(name) {
            Some(before) if before == value => {}
            Some(before) if before.is_object() && value.is_object() => {
                patch.insert(name.clone(), merge_patch(before, value)?);
            }
            _ if has_null(value) => return None,
            _ => {
                patch.insert(name.clone(), value.clone());
            }
        }
    }
    Some(Value::Object(patch))
}

/// Returns whether a value is null or contains null members. Items of arrays do not count.
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
    fn a_patch_has_only_the_differences() {
        let before = json!({"a": {"b": 1, "c": [1], "d": {}}, "e": 2, "same": {"x": null}});
        let after = json!({"a": {"b": 1, "c": [null], "d": {"f": 3}}, "same": {"x": null}});
        let patch = json!({"a": {"c": [null], "d": {"f": 3}}, "e": null});
        assert_eq!(merge_patch(&before, &after), Some(patch));
        assert_eq!(merge_patch(&after, &after), Some(json!({})));
    }

    #[test]
    fn the_shorter_form_is_taken() {
        let long = "a long text that stays as it is, in a list of which one item changes";
        let (before, after) = (json!({"a": [long, 1]}), json!({"a": [long, 2]}));
        let NewState::Patch(steps) = delta(&before, &after) else {
            panic!("a merge patch has the whole list");
        };
        let mut patched = before.clone();
        let steps: json_patch::Patch = serde_json::from_value(steps).unwrap();
        json_patch::patch(&mut patched, &steps).unwrap();
        assert_eq!(patched, after);
        let short = delta(&json!({"a": 1}), &json!({"a": 2}));
        assert!(matches!(short, NewState::Merge(_)), "{short:?}");
        // Only a JSON patch can set null.
        let null = delta(&json!({"a": 1}), &json!({"a": null}));
        assert!(matches!(null, NewState::Patch(_)), "{null:?}");
    }

    #[test]
    fn nothing_becomes_null_by_a_patch() {
        for after in [json!({"a": null}), json!({"a": {"b": null}})] {
            assert_eq!(merge_patch(&json!({}), &after), None, "{after}");
            assert_eq!(merge_patch(&json!({"a": {}}), &after), None, "{after}");
        }
    }
}
