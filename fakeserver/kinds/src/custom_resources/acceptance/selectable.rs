//! The fields of a definition that clients may select by.

use std::collections::BTreeSet;

use fakeserver_value::{read::text, status::FieldError};
use serde_json::Value;

use super::invalid;
use crate::custom_resources::field_path::{FieldPath, Notation};

/// The maximum number of a version's selectable fields.
const SELECTABLE_MAX: u64 = 8;
/// The types that a selectable field may have.
const TYPES: [&str; 3] = ["string", "boolean", "integer"];

/// Returns the errors of the selectable fields of a schema.
pub(super) fn selectable_errors(fields: &Value, schema: &Value, path: &str) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let mut seen = BTreeSet::new();
    for (index, field) in fields.as_array().into_iter().flatten().enumerate() {
        let given = text(&field["jsonPath"]);
        let place = format!("{path}[{index}].jsonPath");
        if given.is_empty() {
            errors.push(FieldError::required(place, ""));
            continue;
        }
        let found = match FieldPath::resolve(given, schema, Notation::Dots) {
            Ok(found) => found,
            Err(why) => {
                let detail = format!("is an invalid path: {why}");
                errors.push(invalid(&place, &given.into(), &detail));
                continue;
            }
        };
        if found.path == "metadata" || found.path.starts_with("metadata.") {
            let detail = "must not point to fields in metadata";
            errors.push(invalid(&place, &given.into(), detail));
        }
        if !TYPES.contains(&text(&found.schema["type"])) {
            let detail = "must point to a field of type string, boolean or integer. Enum string fields and strings \
                          with formats are allowed.";
            errors.push(invalid(&place, &given.into(), detail));
        }
        if !seen.insert(found.path) {
            errors.push(FieldError::duplicate(place, &given.into()));
        }
    }
    let count = seen.len() as u64;
    if count > SELECTABLE_MAX {
        errors.push(FieldError::too_many(path, count, SELECTABLE_MAX));
    }
    errors
}
