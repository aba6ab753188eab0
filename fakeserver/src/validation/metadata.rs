//! The metadata of any object.

use serde_json::{Value, json};

use super::names::{label_value_problems, qualified_name_problems};
use crate::{status::FieldError, strategy::Strategy};

/// How many bytes all annotations of an object may have together.
const ANNOTATIONS_MAX_BYTES: usize = 256 << 10;

/// Finalizers that need not be qualified.
const STANDARD_FINALIZERS: [&str; 3] = ["kubernetes", "orphan", "foregroundDeletion"];

/// What is wrong with the metadata of an object, whether it is new or not.
pub(crate) fn metadata_errors(strategy: Strategy<'_>, metadata: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    check_name(strategy, metadata, &mut errors);
    check_annotations(&metadata["annotations"], &mut errors);
    check_labels(&metadata["labels"], &mut errors);
    check_owners(&metadata["ownerReferences"], &mut errors);
    check_finalizers(&metadata["finalizers"], &mut errors);
    errors
}

/// What may not change between the metadata of an object and that of its next version.
pub(crate) fn metadata_update_errors(old: &Value, new: &Value) -> Vec<FieldError> {
    let mut errors = Vec::new();
    for field in [
        "name",
        "namespace",
        "uid",
        "creationTimestamp",
        "deletionTimestamp",
        "deletionGracePeriodSeconds",
    ] {
        if old[field] != new[field] {
            errors.push(FieldError::invalid(
                format!("metadata.{field}"),
                &new[field],
                "field is immutable",
            ));
        }
    }
    if !old["deletionTimestamp"].is_null() {
        let old_finalizers = old["finalizers"].as_array().cloned().unwrap_or_default();
        let mut added: Vec<&str> = new["finalizers"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|finalizer| !old_finalizers.contains(finalizer))
            .filter_map(Value::as_str)
            .collect();
        added.sort_unstable();
        if !added.is_empty() {
            let added: Vec<String> = added
                .iter()
                .map(|finalizer| format!("{finalizer:?}"))
                .collect();
            errors.push(FieldError::forbidden(
                "metadata.finalizers",
                &format!(
                    "no new finalizers can be added if the object is being deleted, found new finalizers \
                     []string{{{}}}",
                    added.join(", ")
                ),
            ));
        }
    }
    errors
}

fn check_name(strategy: Strategy<'_>, metadata: &Value, errors: &mut Vec<FieldError>) {
    let text = |field: &str| metadata[field].as_str().unwrap_or_default();
    let (name, prefix) = (text("name"), text("generateName"));
    if !prefix.is_empty() {
        // What is appended may be a letter, so the prefix may end in what separates.
        let trial = format!("{}a", prefix.trim_end_matches('-'));
        for problem in strategy.name_problems(&trial) {
            errors.push(invalid("metadata.generateName", prefix, &problem));
        }
    }
    if name.is_empty() {
        errors.push(FieldError::required(
            "metadata.name",
            "name or generateName is required",
        ));
    } else {
        for problem in strategy.name_problems(name) {
            errors.push(invalid("metadata.name", name, &problem));
        }
    }
}

fn check_annotations(annotations: &Value, errors: &mut Vec<FieldError>) {
    let mut bytes = 0;
    for (key, value) in annotations.as_object().into_iter().flatten() {
        for problem in qualified_name_problems(&key.to_lowercase()) {
            errors.push(invalid("metadata.annotations", key, &problem));
        }
        bytes += key.len() + value.as_str().map_or(0, str::len);
    }
    if bytes > ANNOTATIONS_MAX_BYTES {
        errors.push(FieldError::too_long(
            "metadata.annotations",
            ANNOTATIONS_MAX_BYTES,
        ));
    }
}

fn check_labels(labels: &Value, errors: &mut Vec<FieldError>) {
    for (key, value) in labels.as_object().into_iter().flatten() {
        for problem in qualified_name_problems(key) {
            errors.push(invalid("metadata.labels", key, &problem));
        }
        let value = value.as_str().unwrap_or_default();
        for problem in label_value_problems(value) {
            errors.push(invalid("metadata.labels", value, &problem));
        }
    }
}

fn check_owners(owners: &Value, errors: &mut Vec<FieldError>) {
    let owners = owners.as_array().map(Vec::as_slice).unwrap_or_default();
    for (place, owner) in owners.iter().enumerate() {
        for field in ["apiVersion", "kind", "name", "uid"] {
            if owner[field].as_str().unwrap_or_default().is_empty() {
                errors.push(FieldError::invalid(
                    format!("metadata.ownerReferences[{place}].{field}"),
                    &json!(""),
                    &format!(
                        "{} must not be empty",
                        if field == "apiVersion" {
                            "version"
                        } else {
                            field
                        }
                    ),
                ));
            }
        }
    }
    let is_controller = |owner: &&Value| owner["controller"] == json!(true);
    let mut controllers = owners.iter().filter(is_controller);
    if let (Some(first), Some(second)) = (controllers.next(), controllers.next()) {
        let shown =
            |owner: &Value, field: &str| owner[field].as_str().unwrap_or_default().to_owned();
        errors.push(FieldError::invalid(
            "metadata.ownerReferences",
            &Value::Array(owners.to_vec()),
            &format!(
                "Only one reference can have Controller set to true. Found \"true\" in references for {}/{} and {}/{}",
                shown(first, "kind"),
                shown(first, "name"),
                shown(second, "kind"),
                shown(second, "name"),
            ),
        ));
    }
}

fn check_finalizers(finalizers: &Value, errors: &mut Vec<FieldError>) {
    let finalizers = finalizers.as_array().map(Vec::as_slice).unwrap_or_default();
    for finalizer in finalizers.iter().filter_map(Value::as_str) {
        for problem in qualified_name_problems(finalizer) {
            errors.push(invalid("metadata.finalizers", finalizer, &problem));
        }
        if !finalizer.contains('/') && !STANDARD_FINALIZERS.contains(&finalizer) {
            errors.push(invalid(
                "metadata.finalizers",
                finalizer,
                "name is neither a standard finalizer name nor is it fully qualified",
            ));
        }
    }
    if ["orphan", "foregroundDeletion"]
        .iter()
        .all(|standard| finalizers.iter().any(|finalizer| finalizer == standard))
    {
        errors.push(FieldError::invalid(
            "metadata.finalizers",
            &Value::Array(finalizers.to_vec()),
            "finalizer orphan and foregroundDeletion cannot be both set",
        ));
    }
}

fn invalid(field: &str, value: &str, problem: &str) -> FieldError {
    FieldError::invalid(field, &json!(value), problem)
}
