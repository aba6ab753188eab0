//! Structural schemas, by which objects are pruned, completed and merged.

use serde_json::Value;

use super::{defaulting::set_defaults, rules::compilation_errors, validation::validate_at};
use crate::value::{schema::Schemas, status::FieldError};

/// The keywords that schemas of custom resources may not use.
const FORBIDDEN: [&str; 6] = [
    "$ref",
    "definitions",
    "dependencies",
    "patternProperties",
    "additionalItems",
    "uniqueItems",
];
/// The types of values.
const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];

/// Of the metadata of whole objects, a schema may restrict the name only: the rest is the server's.
pub(super) fn check_metadata(metadata: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let Some(members) = metadata.as_object() else {
        return;
    };
    let mut properties = metadata["properties"].as_object().into_iter().flatten();
    let names_only = properties.all(|(name, _)| matches!(name.as_str(), "name" | "generateName"));
    let is_known = |member: &String| {
        matches!(
            member.as_str(),
            "type" | "properties" | "description" | "default"
        )
    };
    if !names_only || !members.keys().all(is_known) {
        errors.push(FieldError::forbidden(
            format!("{path}.properties[metadata]"),
            "must not specify anything other than name and generateName, but metadata is implicitly specified",
        ));
    }
}

/// Checks that a value has a known type.
fn check_type(schema: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let is_typed = schema["type"].is_string()
        || schema["x-kubernetes-int-or-string"] == true
        || schema["x-kubernetes-preserve-unknown-fields"] == true;
    if !is_typed {
        let what = match path.rsplit_once('.') {
            Some((_, "items")) => "array items",
            Some((_, "additionalProperties")) => "object values",
            _ => "object fields",
        };
        errors.push(FieldError::required(
            format!("{path}.type"),
            &format!("must not be empty for specified {what}"),
        ));
    }
    let kind = &schema["type"];
    if kind.is_string() && !TYPES.iter().any(|known| kind == known) {
        errors.push(FieldError::not_supported(
            format!("{path}.type"),
            kind,
            &TYPES,
        ));
    }
}

/// Checks that a schema is structural: every value has a type, and no keyword is used that pruning does not support.
pub(super) fn check_schema(schema: &Value, path: &str, errors: &mut Vec<FieldError>) {
    check_type(schema, path, errors);
    for field in FORBIDDEN {
        let value = &schema[field];
        if !value.is_null() && *value != false {
            errors.push(FieldError::forbidden(
                format!("{path}.{field}"),
                "not supported",
            ));
        }
    }
    let additional = &schema["additionalProperties"];
    if schema["properties"].is_object() && (additional.is_object() || *additional == true) {
        errors.push(FieldError::forbidden(
            format!("{path}.additionalProperties"),
            "additionalProperties and properties are mutual exclusive",
        ));
    }
    if schema["type"] == "array" && schema["items"].is_null() {
        errors.push(FieldError::required(
            format!("{path}.items"),
            "must be specified",
        ));
    }
    check_map_keys(schema, path, errors);
    check_default(schema, path, errors);
    check_embedded(schema, path, errors);
    for (field, why) in compilation_errors(schema, path) {
        let rule = &schema["x-kubernetes-validations"];
        errors.push(FieldError::invalid(
            field,
            rule,
            &format!("compilation failed: {why}"),
        ));
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        check_schema(property, &format!("{path}.properties[{name}]"), errors);
    }
    if additional.is_object() {
        check_schema(additional, &format!("{path}.additionalProperties"), errors);
    }
    if schema["items"].is_object() {
        check_schema(&schema["items"], &format!("{path}.items"), errors);
    }
}

/// An embedded object says something of itself, unless it may be anything.
fn check_embedded(schema: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let properties = schema["properties"].as_object();
    let is_empty = properties.is_none_or(serde_json::Map::is_empty);
    if schema["x-kubernetes-embedded-resource"] == true
        && schema["x-kubernetes-preserve-unknown-fields"] != true
        && is_empty
    {
        errors.push(FieldError::required(
            format!("{path}.properties"),
            "must not be empty if x-kubernetes-embedded-resource is true without \
             x-kubernetes-preserve-unknown-fields",
        ));
    }
}

/// The keys of a list of the type map tell its items apart: each item has to have them.
fn check_map_keys(list: &Value, path: &str, errors: &mut Vec<FieldError>) {
    if list["x-kubernetes-list-type"] != "map" {
        return;
    }
    let keys = list["x-kubernetes-list-map-keys"].as_array();
    if keys.is_none_or(Vec::is_empty) {
        errors.push(FieldError::required(
            format!("{path}.x-kubernetes-list-map-keys"),
            "must not be empty if x-kubernetes-list-type is map",
        ));
    }
    let items = &list["items"];
    let required = items["required"].as_array().into_iter().flatten();
    let required: Vec<&Value> = required.collect();
    for key in keys.into_iter().flatten() {
        let name = key.as_str().unwrap_or_default();
        let property = &items["properties"][name];
        let path = format!("{path}.items.properties[{name}]");
        if property.is_object() && !required.contains(&key) && property["default"].is_null() {
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

/// A default is a value of its schema, once it is completed by the defaults below.
fn check_default(schema: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let Some(default) = schema.get("default").filter(|default| !default.is_null()) else {
        return;
    };
    let mut completed = default.clone();
    let (schemas, root) = Schemas::of_custom_resource(schema);
    set_defaults(&mut completed, schemas.get(root));
    errors.extend(validate_at(&completed, schema, &format!("{path}.default")));
}
