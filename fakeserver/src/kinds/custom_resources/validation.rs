//! Validation of a value by a schema, with findings in the words of the API.

use std::collections::BTreeSet;

use regex::Regex;
use serde_json::Value;

use super::formats::is_format;
use crate::value::status::FieldError;

/// Returns the errors of `object`, the root of a custom resource, by its `schema`.
pub(super) fn validate(object: &Value, schema: &Value) -> Vec<FieldError> {
    validate_at(object, schema, "")
}

/// Returns the errors of the value at `path` by its `schema`.
pub(super) fn validate_at(value: &Value, schema: &Value, path: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    check(value, schema, path, &mut errors);
    check_list_types(value, schema, path, &mut errors);
    errors
}

fn check(value: &Value, schema: &Value, path: &str, errors: &mut Vec<FieldError>) {
    if value.is_null() && schema["nullable"] == true {
        return;
    }
    check_type(value, schema, path, errors);
    check_combinations(value, schema, path, errors);
    match value {
        Value::String(text) => check_string(text, schema, path, errors),
        Value::Number(_) => check_number(value, schema, path, errors),
        Value::Array(items) => check_array(items, schema, path, errors),
        _ => {}
    }
    check_enum(value, schema, path, errors);
    if let Value::Object(_) = value {
        if schema["x-kubernetes-embedded-resource"] == true {
            check_embedded(value, path, errors);
        }
        check_object(value, schema, path, errors);
    }
}

/// An object within an object says what it is.
fn check_embedded(value: &Value, path: &str, errors: &mut Vec<FieldError>) {
    for field in ["apiVersion", "kind"] {
        let path = below(path, field);
        match &value[field] {
            Value::Null => errors.push(FieldError::required(path, "")),
            Value::String(text) if text.is_empty() => {
                errors.push(FieldError::invalid(
                    path,
                    &value[field],
                    "must not be empty",
                ));
            }
            Value::String(_) => {}
            other => errors.push(FieldError::invalid(path, other, "must be a string")),
        }
    }
}

fn check_type(value: &Value, schema: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let Some(wanted) = schema["type"].as_str() else {
        let is_wrong = schema["x-kubernetes-int-or-string"] == true
            && !(value.is_string() || is_integer(value));
        if is_wrong {
            let message = format!(
                "{path} in body must be of type integer,string: {:?}",
                type_of(value)
            );
            errors.push(FieldError::type_invalid(path, type_of(value), &message));
        }
        return;
    };
    let fits = match wanted {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => is_integer(value),
        "number" => value.is_number(),
        _ => true,
    };
    if !fits {
        let found = type_of(value);
        let message = format!("{path} in body must be of type {wanted}: {found:?}");
        errors.push(FieldError::type_invalid(path, found, &message));
    }
}

/// `allOf`, `anyOf`, `oneOf` and `not`.
fn check_combinations(value: &Value, schema: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let branches = |name: &str| schema[name].as_array().into_iter().flatten();
    let passes = |branch: &Value| {
        let mut found = Vec::new();
        check(value, branch, path, &mut found);
        found.is_empty()
    };
    let mut refuse = |message: String| {
        errors.push(FieldError::invalid(
            path,
            &Value::String(String::new()),
            &message,
        ));
    };

    if branches("anyOf").next().is_some() && !branches("anyOf").any(passes) {
        refuse(format!(
            "{path:?} must validate at least one schema (anyOf)"
        ));
    }
    if branches("oneOf").next().is_some() {
        let count = branches("oneOf").filter(|branch| passes(branch)).count();
        let why = match count {
            0 => "Found none valid".to_owned(),
            count => format!("Found {count} valid alternatives"),
        };
        if count != 1 {
            refuse(format!(
                "{path:?} must validate one and only one schema (oneOf). {why}"
            ));
        }
    }
    if !branches("allOf").all(passes) {
        refuse(format!("{path:?} must validate all the schemas (allOf)"));
    }
    let not = &schema["not"];
    if not.is_object() && passes(not) {
        refuse(format!("{path:?} must not validate the schema (not)"));
    }
}

fn check_string(text: &str, schema: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let value = Value::String(text.to_owned());
    let length = text.chars().count();
    if let Some(max) = schema["maxLength"].as_u64()
        && length as u64 > max
    {
        errors.push(FieldError::too_long(
            path,
            usize::try_from(max).unwrap_or(usize::MAX),
        ));
    }
    if let Some(min) = schema["minLength"].as_u64()
        && (length as u64) < min
    {
        let message = format!("{path} in body should be at least {min} chars long");
        errors.push(FieldError::invalid(path, &value, &message));
    }
    // A pattern of Go that cannot be read here refuses nothing.
    if let Some(pattern) = schema["pattern"].as_str()
        && Regex::new(pattern).is_ok_and(|pattern| !pattern.is_match(text))
    {
        let message = format!("{path} in body should match '{pattern}'");
        errors.push(FieldError::invalid(path, &value, &message));
    }
    if let Some(format) = schema["format"].as_str()
        && !is_format(format, text)
    {
        let message = format!("{path} in body must be of type {format}: {text:?}");
        errors.push(FieldError::type_invalid(path, text, &message));
    }
}

fn check_number(value: &Value, schema: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let number = value.as_f64().unwrap_or_default();
    let mut refuse = |message: String| {
        let message = format!("{path} in body {message}");
        errors.push(FieldError::invalid(path, value, &message));
    };
    if let Some(limit) = schema["maximum"].as_f64() {
        let is_exclusive = schema["exclusiveMaximum"] == true;
        if number > limit || (is_exclusive && number >= limit) {
            let or_equal = if is_exclusive { "" } else { " or equal to" };
            refuse(format!(
                "should be less than{or_equal} {}",
                schema["maximum"]
            ));
        }
    }
    if let Some(limit) = schema["minimum"].as_f64() {
        let is_exclusive = schema["exclusiveMinimum"] == true;
        if number < limit || (is_exclusive && number <= limit) {
            let or_equal = if is_exclusive { "" } else { " or equal to" };
            refuse(format!(
                "should be greater than{or_equal} {}",
                schema["minimum"]
            ));
        }
    }
    if let Some(divisor) = schema["multipleOf"].as_f64()
        && divisor > 0.0
        && (number / divisor).fract() != 0.0
    {
        refuse(format!("should be a multiple of {}", schema["multipleOf"]));
    }
    let is_in_range = match schema["format"].as_str() {
        Some("int32") => value
            .as_i64()
            .is_none_or(|value| i32::try_from(value).is_ok()),
        Some("int64") => value.as_i64().is_some() || !is_integer(value),
        _ => true,
    };
    if !is_in_range {
        let format = schema["format"].as_str().unwrap_or_default();
        refuse(format!("must be of type {format}: \"{value}\""));
    }
}

fn check_array(items: &[Value], schema: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let count = items.len() as u64;
    if let Some(max) = schema["maxItems"].as_u64()
        && count > max
    {
        errors.push(FieldError::too_many(path, count, max));
    }
    if let Some(min) = schema["minItems"].as_u64()
        && count < min
    {
        let message = format!("{path} in body should have at least {min} items");
        let value = Value::Array(items.to_vec());
        errors.push(FieldError::invalid(path, &value, &message));
    }
    if schema["items"].is_object() {
        for (index, item) in items.iter().enumerate() {
            check(item, &schema["items"], &format!("{path}[{index}]"), errors);
        }
    }
}

fn check_enum(value: &Value, schema: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let Some(values) = schema["enum"].as_array() else {
        return;
    };
    if values.contains(value) {
        return;
    }
    let texts = values.iter().map(|value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    });
    let texts: Vec<String> = texts.collect();
    let supported: Vec<&str> = texts.iter().map(String::as_str).collect();
    errors.push(FieldError::not_supported(path, value, &supported));
}

fn check_object(value: &Value, schema: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let empty = serde_json::Map::new();
    let fields = value.as_object().unwrap_or(&empty);
    let count = fields.len() as u64;
    if let Some(max) = schema["maxProperties"].as_u64()
        && count > max
    {
        errors.push(FieldError::too_many(path, count, max));
    }
    if let Some(min) = schema["minProperties"].as_u64()
        && count < min
    {
        let message = format!("{path} in body should have at least {min} properties");
        errors.push(FieldError::invalid(path, value, &message));
    }
    for name in schema["required"].as_array().into_iter().flatten() {
        let name = name.as_str().unwrap_or_default();
        if !fields.contains_key(name) {
            errors.push(FieldError::required(below(path, name), ""));
        }
    }
    for (name, value) in fields {
        let property = &schema["properties"][name.as_str()];
        if property.is_object() {
            check(value, property, &below(path, name), errors);
        } else if schema["additionalProperties"].is_object() {
            check(
                value,
                &schema["additionalProperties"],
                &below(path, name),
                errors,
            );
        }
    }
}

/// Items that a set or a map of a list has twice.
fn check_list_types(value: &Value, schema: &Value, path: &str, errors: &mut Vec<FieldError>) {
    match value {
        Value::Array(items) => {
            let key = |item: &Value| match schema["x-kubernetes-list-type"].as_str() {
                Some("set") => Some(item.clone()),
                Some("map") => Some(map_key(item, schema)),
                _ => None,
            };
            let mut seen = BTreeSet::new();
            for (index, item) in items.iter().enumerate() {
                let path = format!("{path}[{index}]");
                if let Some(key) = key(item)
                    && !seen.insert(key.to_string())
                {
                    errors.push(FieldError::duplicate(path.as_str(), &key));
                }
                check_list_types(item, &schema["items"], &path, errors);
            }
        }
        Value::Object(fields) => {
            for (name, value) in fields {
                let property = &schema["properties"][name.as_str()];
                let schema = if property.is_object() {
                    property
                } else {
                    &schema["additionalProperties"]
                };
                check_list_types(value, schema, &below(path, name), errors);
            }
        }
        _ => {}
    }
}

/// The part of an item that tells it from the others of its list.
fn map_key(item: &Value, schema: &Value) -> Value {
    let keys = schema["x-kubernetes-list-map-keys"].as_array();
    let keys = keys.into_iter().flatten().filter_map(Value::as_str);
    let members = keys.map(|key| (key.to_owned(), item[key].clone()));
    Value::Object(members.filter(|(_, value)| !value.is_null()).collect())
}

fn below(path: &str, name: &str) -> String {
    if path.is_empty() {
        name.to_owned()
    } else {
        format!("{path}.{name}")
    }
}

fn is_integer(value: &Value) -> bool {
    value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0)
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) if is_integer(value) => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
