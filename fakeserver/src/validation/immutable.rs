//! What may not change in an object once it says so.

use serde_json::{Value, json};

use crate::{resource::ResourceType, status::FieldError};

/// What an update of `old` to `new` may not do, because of what the object is.
pub(crate) fn immutable_errors(
    resource: &ResourceType,
    old: &Value,
    new: &Value,
) -> Vec<FieldError> {
    let mut errors = Vec::new();
    let is_secret = (&*resource.group, &*resource.plural) == ("", "secrets");
    let is_config_map = (&*resource.group, &*resource.plural) == ("", "configmaps");
    if is_secret && old["type"] != new["type"] {
        errors.push(FieldError::invalid(
            "type",
            &new["type"],
            "field is immutable",
        ));
    }
    let has_fixed_selector =
        &*resource.group == "apps" && &*resource.plural != "controllerrevisions";
    if has_fixed_selector && old["spec"]["selector"] != new["spec"]["selector"] {
        errors.push(FieldError::invalid(
            "spec.selector",
            &new["spec"]["selector"],
            "field is immutable",
        ));
    }
    if !(is_secret || is_config_map) || old["immutable"] != json!(true) {
        return errors;
    }
    let is_frozen = |field: &str| match field {
        "immutable" => new["immutable"] != json!(true),
        _ => old[field] != new[field],
    };
    for field in ["immutable", "data", "binaryData"] {
        if is_frozen(field) {
            errors.push(FieldError::forbidden(
                field,
                "field is immutable when `immutable` is set",
            ));
        }
    }
    errors
}
