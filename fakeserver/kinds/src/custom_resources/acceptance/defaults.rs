//! Validation of the defaults of a schema.

use fakeserver_value::{
    schema::{Schemas, prune},
    status::FieldError,
};
use fakeserver_versions::KubernetesVersion;
use serde_json::Value;

use crate::custom_resources::{
    rules::Rules,
    validation::{embedded::embedded_errors, validate_at},
};

/// Returns the errors of the defaults of a whole schema.
pub(super) fn default_errors(
    kubernetes: KubernetesVersion,
    schema: &Value,
    path: &str,
) -> Vec<FieldError> {
    let mut errors = Vec::new();
    check(kubernetes, schema, path, SchemaPosition::Root, &mut errors);
    errors
}

/// The place of a schema within the objects that it describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SchemaPosition {
    Root,
    Inside,
    /// Within the metadata, the kind or the version of an object.
    Metadata,
}

fn check(
    kubernetes: KubernetesVersion,
    schema: &Value,
    path: &str,
    place: SchemaPosition,
    errors: &mut Vec<FieldError>,
) {
    let is_embedded = schema["x-kubernetes-embedded-resource"] == true;
    let place = if is_embedded && place == SchemaPosition::Metadata {
        SchemaPosition::Inside
    } else {
        place
    };
    if let Some(default) = schema.get("default").filter(|default| !default.is_null()) {
        let path = format!("{path}.default");
        check_default(kubernetes, default, schema, &path, place, errors);
    }
    if schema["items"].is_object() {
        let inner = if place == SchemaPosition::Root {
            SchemaPosition::Inside
        } else {
            place
        };
        let path = format!("{path}.items");
        check(kubernetes, &schema["items"], &path, inner, errors);
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let is_object = is_embedded || place == SchemaPosition::Root;
        let is_meta = is_object && matches!(name.as_str(), "metadata" | "apiVersion" | "kind");
        let inner = match place {
            _ if is_meta => SchemaPosition::Metadata,
            SchemaPosition::Root => SchemaPosition::Inside,
            place => place,
        };
        check(
            kubernetes,
            property,
            &format!("{path}.properties[{name}]"),
            inner,
            errors,
        );
    }
}

/// Checks that a default is a value of its schema, and meets its rules as a new value and as one that replaces itself.
fn check_default(
    kubernetes: KubernetesVersion,
    default: &Value,
    schema: &Value,
    path: &str,
    place: SchemaPosition,
    errors: &mut Vec<FieldError>,
) {
    if place != SchemaPosition::Metadata {
        let (schemas, root) = Schemas::of_custom_resource(schema);
        let mut pruned = default.clone();
        let is_object = schema["x-kubernetes-embedded-resource"] == true;
        prune(&mut pruned, schemas.get(root), is_object);
        if pruned != *default {
            errors.push(FieldError::invalid(
                path,
                default,
                "must not have unknown fields",
            ));
        }
        let embedded = embedded_errors(default, schema, path);
        if !embedded.is_empty() {
            return errors.extend(embedded);
        }
    }
    let found = validate_at(kubernetes, default, schema, path, None);
    if !found.is_empty() {
        return errors.extend(found);
    }
    let rules = Rules::compile(schema, place == SchemaPosition::Root);
    let found = rules.errors_at(kubernetes, default, Some(default), path);
    if found.is_empty() {
        errors.extend(rules.errors_at(kubernetes, default, None, path));
    } else {
        errors.extend(found);
    }
}
