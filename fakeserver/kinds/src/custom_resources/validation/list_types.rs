//! Items that a set or a map of a list has twice.

use std::collections::BTreeMap;

use fakeserver_value::status::FieldError;
use serde_json::Value;

use super::correlation::map_key;

/// Returns an error for each second item of a list that is equal to another one, or has its keys.
pub(in crate::custom_resources) fn list_type_errors(
    value: &Value,
    schema: &Value,
    path: &str,
) -> Vec<FieldError> {
    let mut errors = Vec::new();
    check(value, schema, path, &mut errors);
    errors
}

fn check(value: &Value, schema: &Value, path: &str, errors: &mut Vec<FieldError>) {
    match value {
        Value::Array(items) => {
            match schema["x-kubernetes-list-type"].as_str() {
                Some("set") => check_set(items.iter().cloned(), path, errors),
                Some("map") => check_map(items, schema, path, errors),
                _ => {}
            }
            for (index, item) in items.iter().enumerate() {
                check(item, &schema["items"], &format!("{path}[{index}]"), errors);
            }
        }
        Value::Object(fields) => {
            for (name, value) in fields {
                let property = &schema["properties"][name.as_str()];
                let additional = &schema["additionalProperties"];
                if property.is_object() {
                    let path = super::below(path, name);
                    check(value, property, &path, errors);
                } else if additional.is_object() {
                    check(value, additional, &format!("{path}[{name}]"), errors);
                }
            }
        }
        _ => {}
    }
}

/// Tells the first repetition of each value.
fn check_set(values: impl Iterator<Item = Value>, path: &str, errors: &mut Vec<FieldError>) {
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    for (index, value) in values.enumerate() {
        let times = times.entry(value.to_string()).or_default();
        *times += 1;
        if *times == 2 {
            let path = format!("{path}[{index}]");
            errors.push(FieldError::duplicate(path, &value));
        }
    }
}

fn check_map(items: &[Value], schema: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let mut all = items.iter().enumerate();
    if let Some((index, item)) = all.find(|(_, item)| !item.is_object() && !item.is_null()) {
        errors.push(FieldError::invalid(
            format!("{path}[{index}]"),
            item,
            "must be an object for an array of list-type map",
        ));
        return;
    }
    let keys = items.iter().map(|item| {
        let key = item.as_object().map(|item| map_key(item, schema));
        Value::Object(key.unwrap_or_default())
    });
    check_set(keys, path, errors);
}
