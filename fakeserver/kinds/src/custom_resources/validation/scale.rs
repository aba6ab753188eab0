//! Validation of the parts of an object that its scale is made of.

use fakeserver_value::{
    go_text::{plain, type_name},
    status::FieldError,
};
use serde_json::Value;

/// Returns the errors of the replicas that are wanted.
pub(in crate::custom_resources) fn spec_errors(object: &Value, scale: &Value) -> Vec<FieldError> {
    replicas_error(object, &scale["specReplicasPath"])
        .into_iter()
        .collect()
}

/// Returns the errors of the replicas that exist, and of their selector.
pub(in crate::custom_resources) fn status_errors(object: &Value, scale: &Value) -> Vec<FieldError> {
    let replicas = replicas_error(object, &scale["statusReplicasPath"]);
    let selector = scale["labelSelectorPath"].as_str().and_then(|path| {
        let wrong = match nested(object, path) {
            Ok(None | Some(Value::String(_))) => return None,
            Ok(Some(other)) => access_error(path, other, "string"),
            Err(why) => why,
        };
        Some(FieldError::invalid_printed(path, "\"\"", &wrong))
    });
    replicas.into_iter().chain(selector).collect()
}

fn replicas_error(object: &Value, path: &Value) -> Option<FieldError> {
    let path = path.as_str()?;
    let invalid =
        |count: i64, why: &str| Some(FieldError::invalid_printed(path, &count.to_string(), why));
    let value = match nested(object, path) {
        Ok(None) => return None,
        Ok(Some(value)) => value,
        Err(why) => return invalid(0, &why),
    };
    let Some(replicas) = value.as_i64() else {
        return invalid(0, &access_error(path, value, "int64"));
    };
    if replicas < 0 {
        return invalid(replicas, "should be a non-negative integer");
    }
    let max = i64::from(i32::MAX);
    (replicas > max)
        .then(|| invalid(replicas, &format!("should be less than or equal to {max}")))
        .flatten()
}

/// Returns the names of the fields on a path.
pub(in crate::custom_resources) fn names_of(path: &str) -> Vec<&str> {
    path.strip_prefix('.').unwrap_or(path).split('.').collect()
}

/// Returns the value at a path, or says which part of the way is no object.
pub(in crate::custom_resources) fn nested<'v>(
    object: &'v Value,
    path: &str,
) -> Result<Option<&'v Value>, String> {
    let names = names_of(path);
    let mut value = object;
    for (depth, name) in names.iter().enumerate() {
        if value.is_null() {
            return Ok(None);
        }
        let Some(fields) = value.as_object() else {
            let path = format!(".{}", names[..=depth].join("."));
            return Err(access_error(&path, value, "map[string]interface{}"));
        };
        match fields.get(*name) {
            Some(next) => value = next,
            None => return Ok(None),
        }
    }
    Ok(Some(value))
}

/// Returns the error of a value of another type.
pub(in crate::custom_resources) fn access_error(path: &str, value: &Value, wanted: &str) -> String {
    format!(
        "{path} accessor error: {} is of the type {}, expected {wanted}",
        plain(value),
        type_name(value)
    )
}
