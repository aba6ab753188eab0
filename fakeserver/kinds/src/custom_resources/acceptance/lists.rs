//! Validation of the types of lists: sets, and maps with their keys.

use std::collections::BTreeSet;

use fakeserver_value::{read::text, status::FieldError};
use serde_json::Value;

use super::invalid;

/// Checks the list keywords of a schema.
pub(super) fn check_list(schema: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let list_type = schema["x-kubernetes-list-type"].as_str();
    check_type(schema, list_type, path, errors);
    if let Some(other) = list_type
        && !matches!(other, "atomic" | "set" | "map")
    {
        errors.push(FieldError::not_supported(
            format!("{path}.x-kubernetes-list-type"),
            &other.into(),
            &["atomic", "set", "map"],
        ));
    }
    let keys = schema["x-kubernetes-list-map-keys"].as_array();
    let keys = keys.map(Vec::as_slice).unwrap_or_default();
    if !keys.is_empty() {
        let path = format!("{path}.x-kubernetes-list-type");
        let detail = "must be map if x-kubernetes-list-map-keys is non-empty";
        match list_type {
            None => errors.push(FieldError::required(path, detail)),
            Some("map") => {}
            Some(other) => errors.push(invalid(&path, &other.into(), detail)),
        }
    }
    if list_type == Some("map") {
        check_map(schema, keys, path, errors);
    }
    check_items(schema, list_type, keys, path, errors);
}

fn check_type(schema: &Value, list_type: Option<&str>, path: &str, errors: &mut Vec<FieldError>) {
    let Some(list_type) = list_type else { return };
    let detail = "must be array if x-kubernetes-list-type is specified";
    match text(&schema["type"]) {
        "array" => {}
        "" => return errors.push(FieldError::required(format!("{path}.type"), detail)),
        _ => {
            let path = format!("{path}.type");
            return errors.push(invalid(&path, &schema["type"], detail));
        }
    }
    let items = &schema["items"];
    let detail = "must be atomic as item of a list with x-kubernetes-list-type=set";
    let inner = &items["x-kubernetes-list-type"];
    let is_inner_atomic = |keyword: &str| items[keyword] == "atomic";
    match text(&items["type"]) {
        "array" if list_type == "set" && !inner.is_null() && *inner != "atomic" => {
            let path = format!("{path}.items.x-kubernetes-list-type");
            errors.push(invalid(&path, inner, detail));
        }
        "object" if list_type == "set" && !is_inner_atomic("x-kubernetes-map-type") => {
            let path = format!("{path}.items.x-kubernetes-map-type");
            errors.push(invalid(&path, inner, detail));
        }
        _ => {}
    }
}

fn check_map(schema: &Value, keys: &[Value], path: &str, errors: &mut Vec<FieldError>) {
    let keys_path = format!("{path}.x-kubernetes-list-map-keys");
    if keys.is_empty() {
        errors.push(FieldError::required(
            keys_path.as_str(),
            "must not be empty if x-kubernetes-list-type is map",
        ));
    }
    let items = &schema["items"];
    if items.is_null() {
        return errors.push(FieldError::required(
            format!("{path}.items"),
            "must have a schema if x-kubernetes-list-type is map",
        ));
    }
    if items["type"] != "object" {
        return errors.push(invalid(
            &format!("{path}.items.type"),
            &text(&items["type"]).into(),
            "must be object if parent array's x-kubernetes-list-type is map",
        ));
    }
    let all = Value::Array(keys.to_vec());
    let mut seen = BTreeSet::new();
    for key in keys.iter().map(text) {
        match items["properties"].get(key) {
            None => errors.push(invalid(
                &keys_path,
                &all,
                "entries must all be names of item properties",
            )),
            Some(property) if matches!(text(&property["type"]), "array" | "object") => {
                errors.push(invalid(
                    &format!("{path}.items.properties[{key}].type"),
                    &items["type"],
                    "must be a scalar type if parent array's x-kubernetes-list-type is map",
                ));
            }
            Some(_) => {}
        }
        if !seen.insert(key) {
            errors.push(invalid(
                &keys_path,
                &all,
                "must not contain duplicate entries",
            ));
        }
    }
}

/// Checks that items of sets and maps are not null, and have their keys.
fn check_items(
    schema: &Value,
    list_type: Option<&str>,
    keys: &[Value],
    path: &str,
    errors: &mut Vec<FieldError>,
) {
    let items = &schema["items"];
    let Some(list_type) = list_type.filter(|one| matches!(*one, "set" | "map")) else {
        return;
    };
    if !items.is_object() {
        return;
    }
    if items["nullable"] == true {
        let detail = format!("cannot be nullable when x-kubernetes-list-type is {list_type}");
        errors.push(FieldError::forbidden(
            format!("{path}.items.nullable"),
            &detail,
        ));
    }
    if list_type == "set" {
        return;
    }
    let required = items["required"].as_array().map(Vec::as_slice);
    for key in keys {
        let name = text(key);
        let Some(property) = items["properties"].get(name) else {
            continue;
        };
        let path = format!("{path}.items.properties[{name}]");
        let has_default = property
            .get("default")
            .is_some_and(|value| !value.is_null());
        if !required.unwrap_or_default().contains(key) && !has_default {
            errors.push(FieldError::required(
                format!("{path}.default"),
                "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property",
            ));
        }
        if property["nullable"] == true {
            errors.push(FieldError::forbidden(
                format!("{path}.nullable"),
                "this property is in x-kubernetes-list-map-keys, so it cannot be nullable",
            ));
        }
    }
}
