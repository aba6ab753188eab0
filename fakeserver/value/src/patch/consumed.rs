//! The rest of a strategic merge patch after it was applied: Go removes directives from the patch as it obeys them.

use serde_json::Value;

use super::{
    document::without_nulls,
    strategic::{DIRECTIVE, Fields, RETAIN_KEYS, SET_ELEMENT_ORDER},
};

/// Returns the rest of `patch` after it was applied to `original`, which errors show.
pub fn consumed(patch: &Value, original: &Value) -> Value {
    match (patch, original) {
        (Value::Object(patch), Value::Object(original)) => consumed_map(patch, original).into(),
        (patch, _) => without_nulls(patch),
    }
}

fn consumed_map(patch: &Fields, original: &Fields) -> Fields {
    let mut left = patch.clone();
    if let Some(directive) = patch.get(DIRECTIVE) {
        if directive == "replace" {
            left.remove(DIRECTIVE);
        }
        return left;
    }
    for name in patch.keys() {
        if name == RETAIN_KEYS {
            left.remove(name);
        } else if let Some(list) = name.strip_prefix(SET_ELEMENT_ORDER) {
            left.remove(name);
            left.remove(list.trim_start_matches('/'));
        }
    }
    for (name, value) in &mut left {
        match original.get(name) {
            Some(original) if value.is_object() && original.is_object() => {
                *value = consumed(value, original);
            }
            Some(Value::Array(_)) if value.is_array() => {}
            _ => *value = without_nulls(value),
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn directives_that_were_obeyed_are_gone() {
        let original = json!({"metadata": {"labels": {"a": "b"}, "finalizers": ["x"]}});
        let patch = json!({
            "metadata": {
                "labels": {"$patch": "replace", "c": "d"},
                "$setElementOrder/finalizers": ["x", "y"],
                "finalizers": ["y"],
            },
            "spec": {"a": null, "b": [{"c": null, "$patch": "delete"}]},
            "status": null,
        });
        assert_eq!(
            consumed(&patch, &original),
            json!({
                "metadata": {"labels": {"c": "d"}},
                "spec": {"b": [{"$patch": "delete"}]},
                "status": null,
            })
        );
    }
}
