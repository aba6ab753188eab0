//! The pure core of applies that write nothing: what a manager owns of an object, beside what it wants to apply.

use serde_json::{Map, Value};

/// Returns true if applying `desired` as `manager` would change nothing of `live`: the manager owns just the fields that are
/// desired, and they have the desired values.
///
/// Returns false in case of doubt: without `managedFields`, and where the server writes a value in another way than it was sent.
pub(super) fn is_applied(live: &Value, desired: &Value, manager: &str) -> bool {
    let entries = live.pointer("/metadata/managedFields");
    let mut entries = entries.and_then(Value::as_array).into_iter().flatten();
    let own = entries.find(|entry| {
        entry["manager"] == manager
            && entry["operation"] == "Apply"
            && entry.get("subresource").is_none_or(|name| name == "")
    });
    let Some(own) = own else {
        return false;
    };
    if own["apiVersion"] != desired["apiVersion"] {
        return false;
    }
    let mut desired = desired.clone();
    forget_identity(&mut desired);
    own.get("fieldsV1")
        .is_some_and(|owned| agrees(owned, Some(live), Some(&desired)))
}

/// Removes the fields that an apply names and no manager owns.
fn forget_identity(desired: &mut Value) {
    let Some(object) = desired.as_object_mut() else {
        return;
    };
    for field in ["apiVersion", "kind", "status"] {
        object.remove(field);
    }
    if let Some(meta) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        for field in [
            "name",
            "namespace",
            "creationTimestamp",
            "managedFields",
            "uid",
            "resourceVersion",
        ] {
            meta.remove(field);
        }
        if meta.is_empty() {
            object.remove("metadata");
        }
    }
}

/// Returns true if `desired` has just the fields of `owned`, with the values of `live`.
fn agrees(owned: &Value, live: Option<&Value>, desired: Option<&Value>) -> bool {
    let (Some(live), Some(desired)) = (live, desired) else {
        return false;
    };
    let Some(owned) = owned.as_object().filter(|owned| has_children(owned)) else {
        // A leaf, or a value that is owned as a whole.
        return live == desired;
    };
    match (live, desired) {
        (Value::Object(live), Value::Object(desired)) => {
            let mut children = owned
                .iter()
                .filter_map(|(path, child)| Some((path.strip_prefix("f:")?, child)));
            let count = children.clone().count();
            desired.len() == count
                && children.all(|(name, child)| agrees(child, live.get(name), desired.get(name)))
        }
        (Value::Array(live), Value::Array(desired)) => {
            let mut children = owned.iter().filter(|(path, _)| *path != ".");
            desired.len() == children.clone().count()
                && children.all(|(path, child)| {
                    let (live, desired) = (element(live, path), element(desired, path));
                    agrees(&without_keys(child, path), live, desired)
                })
        }
        _ => false,
    }
}

fn has_children(owned: &Map<String, Value>) -> bool {
    owned.keys().any(|path| path != ".")
}

/// Returns what is owned of a list's element, its keys included, which are always there.
fn without_keys(owned: &Value, path: &str) -> Value {
    let keys = path
        .strip_prefix("k:")
        .and_then(|keys| serde_json::from_str::<Map<String, Value>>(keys).ok());
    let (Some(owned), Some(keys)) = (owned.as_object(), keys) else {
        return owned.clone();
    };
    let mut owned = owned.clone();
    if has_children(&owned) {
        for key in keys.keys() {
            owned
                .entry(format!("f:{key}"))
                .or_insert_with(|| Value::Object(Map::new()));
        }
    }
    Value::Object(owned)
}

/// Returns the element of a list that a path of `managedFields` names: by its keys, by its value or by its place.
fn element<'a>(list: &'a [Value], path: &str) -> Option<&'a Value> {
    let (kind, text) = path.split_once(':')?;
    let wanted: Value = serde_json::from_str(text).ok()?;
    match kind {
        "k" => list.iter().find(|element| {
            let mut keys = wanted.as_object().into_iter().flatten();
            keys.all(|(key, value)| element.get(key) == Some(value))
        }),
        "v" => list.iter().find(|element| **element == wanted),
        "i" => list.get(usize::try_from(wanted.as_u64()?).ok()?),
        _ => None,
    }
}

/// Returns true if a merge patch would change nothing of `live`.
pub(super) fn is_merged(live: &Value, patch: &Value) -> bool {
    match (live, patch) {
        (Value::Object(live), Value::Object(patch)) => {
            patch
                .iter()
                .all(|(name, wanted)| match (live.get(name), wanted) {
                    (None | Some(Value::Null), Value::Null) => true,
                    (Some(live), wanted) => is_merged(live, wanted),
                    (None, _) => false,
                })
        }
        _ => live == patch,
    }
}
