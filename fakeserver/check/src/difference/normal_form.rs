//! Stored objects without what the server alone sets, so that two of them can be compared.

use serde_json::{Map, Value};

/// The fields of the metadata that only the server sets.
const SERVER_SET: [&str; 7] = [
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generation",
    "managedFields",
    "resourceVersion",
    "uid",
];
/// The fields of services that the server allocates if the manifest has none.
const ALLOCATED: [&str; 3] = ["clusterIP", "clusterIPs", "healthCheckNodePort"];
/// The text that stands for the uid of an object, which is in the labels of jobs.
const UID: &str = "<uid>";

/// Returns a stored object without what only the server sets. `manifest` is the object that was applied.
pub(super) fn of(mut stored: Value, manifest: &Value) -> Value {
    let uid = stored["metadata"]["uid"].as_str().map(str::to_owned);
    if let Some(fields) = stored.as_object_mut() {
        fields.remove("status");
    }
    if let Some(metadata) = stored["metadata"].as_object_mut() {
        for field in SERVER_SET {
            metadata.remove(field);
        }
    }
    if stored["kind"] == "Service" && stored["apiVersion"] == "v1" {
        remove_allocated(&mut stored["spec"], &manifest["spec"]);
    }
    if manifest["spec"]["conversion"]["strategy"] == "Webhook" {
        stored["spec"]["conversion"] = manifest["spec"]["conversion"].clone();
    }
    if let Some(uid) = uid {
        replace_text(&mut stored, &uid);
    }
    stored
}

/// Removes the addresses and ports that the server has chosen.
fn remove_allocated(spec: &mut Value, manifest: &Value) {
    let Some(fields) = spec.as_object_mut() else {
        return;
    };
    for field in ALLOCATED {
        if manifest.get(field).is_none() && fields.get(field) != Some(&Value::from("None")) {
            fields.remove(field);
        }
    }
    let ports = fields.get_mut("ports").and_then(Value::as_array_mut);
    for (place, port) in ports.into_iter().flatten().enumerate() {
        let is_chosen = manifest["ports"][place].get("nodePort").is_none();
        if let Some(port) = port.as_object_mut().filter(|_| is_chosen) {
            port.remove("nodePort");
        }
    }
}

/// Replaces a text that is the whole of a value.
fn replace_text(value: &mut Value, text: &str) {
    match value {
        Value::String(own) if own == text => UID.clone_into(own),
        Value::Array(items) => items.iter_mut().for_each(|item| replace_text(item, text)),
        Value::Object(members) => {
            for (_, member) in members.iter_mut() {
                replace_text(member, text);
            }
        }
        _ => {}
    }
}

/// Hides the data of secrets, so that only its changes can be seen.
pub(super) fn masked(
    mut old: Option<Value>,
    mut new: Option<Value>,
) -> (Option<Value>, Option<Value>) {
    for field in ["data", "stringData"] {
        let before = secret_data(old.as_mut(), field)
            .cloned()
            .unwrap_or_default();
        let after = secret_data(new.as_mut(), field)
            .cloned()
            .unwrap_or_default();
        for (side, other, mark) in [
            (&mut old, &after, "*** (before)"),
            (&mut new, &before, "*** (after)"),
        ] {
            for (key, value) in secret_data(side.as_mut(), field).into_iter().flatten() {
                let is_same = other.get(key).is_none_or(|other| other == value);
                *value = Value::from(if is_same { "***" } else { mark });
            }
        }
    }
    (old, new)
}

fn secret_data<'a>(side: Option<&'a mut Value>, field: &str) -> Option<&'a mut Map<String, Value>> {
    let object =
        side.filter(|object| object["kind"] == "Secret" && object["apiVersion"] == "v1")?;
    object.get_mut(field)?.as_object_mut()
}
