//! Objects within objects, which have a type and metadata of their own.

use fakeserver_value::{
    names::{dns_label_problems, path_segment_problems, service_name_problems},
    schema::{DecodedObject, StrictError, as_printed, decode, type_of_kind, types},
    status::FieldError,
};
use serde_json::{Value, json};

use crate::metadata::common_metadata_errors;

use super::below;

/// Reads metadata as the API holds it: without optional lists and maps that have no items. Unknown fields are reported,
/// with paths below `metadata`.
///
/// # Errors
///
/// The value is no valid metadata; the error is in Go's words.
pub fn read_metadata(metadata: &Value) -> Result<DecodedObject, String> {
    let id =
        type_of_kind("", "", "PartialObjectMetadata").expect("every server knows what metadata is");
    let alone = json!({"metadata": metadata}).to_string();
    let mut decoded = decode(id, alone.as_bytes()).map_err(|error| {
        // A real server decodes the metadata alone, so that error paths begin there.
        let error = error.to_string();
        let error = error.replacen("field ObjectMeta.metadata.", "field ObjectMeta.", 1);
        error.replacen(
            "struct field PartialObjectMetadata.metadata of",
            "value of",
            1,
        )
    })?;
    decoded.value = as_printed(types(), id, decoded.value)["metadata"].take();
    Ok(decoded)
}

/// Reads the types and the metadata of all objects within `value`, as far as they are what those are.
///
/// # Errors
///
/// A type is no text, or metadata is not what metadata is.
pub(in crate::custom_resources) fn coerce(
    value: &mut Value,
    schema: &Value,
    path: &str,
    strict: &mut Vec<StrictError>,
) -> Result<(), String> {
    match value {
        Value::Object(fields) => {
            let is_embedded = schema["x-kubernetes-embedded-resource"] == true;
            for (name, value) in fields {
                if is_embedded {
                    coerce_field(name, value, path, strict)?;
                }
                let property = &schema["properties"][name.as_str()];
                let additional = &schema["additionalProperties"];
                if property.is_object() {
                    coerce(value, property, &below(path, name), strict)?;
                } else if additional.is_object() {
                    coerce(value, additional, &format!("{path}[{name}]"), strict)?;
                }
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                coerce(item, &schema["items"], &format!("{path}[{index}]"), strict)?;
            }
        }
        _ => {}
    }
    Ok(())
}

fn coerce_field(
    name: &str,
    value: &mut Value,
    path: &str,
    strict: &mut Vec<StrictError>,
) -> Result<(), String> {
    let refuse =
        |value: &Value, why: &str| FieldError::invalid(below(path, name), value, why).to_string();
    match name {
        "apiVersion" | "kind" if !value.is_string() => Err(refuse(value, "must be a string")),
        "metadata" => {
            let metadata = read_metadata(value).map_err(|why| refuse(value, &why))?;
            for unknown in metadata.strict {
                strict.push(match unknown {
                    StrictError::UnknownField(field) => {
                        StrictError::UnknownField(below(path, &field))
                    }
                    other @ StrictError::DuplicateField(_) => other,
                });
            }
            *value = metadata.value;
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Returns the errors of the types and the metadata of all objects within `value`.
pub(in crate::custom_resources) fn embedded_errors(
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
        Value::Object(fields) => {
            if schema["x-kubernetes-embedded-resource"] == true {
                check_embedded(value, path, errors);
            }
            for (name, value) in fields {
                let property = &schema["properties"][name.as_str()];
                let additional = &schema["additionalProperties"];
                if property.is_object() {
                    check(value, property, &below(path, name), errors);
                } else if additional.is_object() {
                    check(value, additional, &format!("{path}[{name}]"), errors);
                }
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                check(item, &schema["items"], &format!("{path}[{index}]"), errors);
            }
        }
        _ => {}
    }
}

/// Checks that an embedded object has `apiVersion` and `kind`.
fn check_embedded(value: &Value, path: &str, errors: &mut Vec<FieldError>) {
    for field in ["apiVersion", "kind"] {
        if value.get(field).is_none() {
            errors.push(FieldError::required(below(path, field), ""));
        }
    }
    for field in ["apiVersion", "kind"] {
        let Some(found) = value.get(field) else {
            continue;
        };
        let mut refuse = |why: &str| {
            errors.push(FieldError::invalid(below(path, field), found, why));
        };
        match found.as_str() {
            None => refuse("must be a string"),
            Some("") => refuse("must not be empty"),
            Some(text) if field == "apiVersion" => {
                if text.matches('/').count() > 1 {
                    refuse(&format!("unexpected GroupVersion string: {text}"));
                }
            }
            Some(text) => {
                let problems = service_name_problems(&text.to_lowercase());
                if !problems.is_empty() {
                    let problems = problems.join(",");
                    refuse(&format!(
                        "may have mixed case, but should otherwise match: {problems}"
                    ));
                }
            }
        }
    }
    if let Some(metadata) = value.get("metadata") {
        check_metadata(metadata, &below(path, "metadata"), errors);
    }
}

fn check_metadata(metadata: &Value, path: &str, errors: &mut Vec<FieldError>) {
    let mut names = |field: &str, problems: fn(&str) -> Vec<String>| {
        let name = metadata[field].as_str().unwrap_or_default();
        if name.is_empty() {
            return;
        }
        for problem in problems(name) {
            errors.push(FieldError::invalid(
                below(path, field),
                &metadata[field],
                &problem,
            ));
        }
    };
    names("generateName", path_segment_problems);
    names("name", path_segment_problems);
    names("namespace", dns_label_problems);
    for mut error in common_metadata_errors(metadata) {
        if let Some(rest) = error.field.strip_prefix("metadata") {
            error.field = format!("{path}{rest}");
        }
        errors.push(error);
    }
}
