//! Definitions of custom resources in `apiextensions.k8s.io/v1beta1`, the version in which servers store them to this day.
//!
//! There, what all versions of a definition have in common stands once, in its spec, and a webhook's address in its conversion.

use fakeserver_value::schema::{FieldValue, TypeId, TypeMeta, print_in_go_order};
use serde_json::{Map, Value};

const OLDER: &str = "apiextensions.k8s.io/v1beta1";
/// The fields that are in the spec if all versions have the same, and their names in a version.
const COMMON: [(&str, &str); 4] = [
    ("subresources", "subresources"),
    ("validation", "schema"),
    ("additionalPrinterColumns", "additionalPrinterColumns"),
    ("selectableFields", "selectableFields"),
];
/// The fields of the spec, in the order of Go's struct, and the path of each's type in the served version.
const SPEC: [(&str, &[&str]); 11] = [
    ("group", &[]),
    ("version", &[]),
    ("names", &["names"]),
    ("scope", &[]),
    ("validation", &["versions", "schema"]),
    ("subresources", &["versions", "subresources"]),
    ("versions", &["versions"]),
    (
        "additionalPrinterColumns",
        &["versions", "additionalPrinterColumns"],
    ),
    ("selectableFields", &["versions", "selectableFields"]),
    ("conversion", &["conversion"]),
    ("preserveUnknownFields", &[]),
];
/// The fields of the conversion, in the same way.
const CONVERSION: [(&str, &[&str]); 3] = [
    ("strategy", &[]),
    ("webhookClientConfig", &["webhook", "clientConfig"]),
    ("conversionReviewVersions", &[]),
];
/// The path of a column's value, in the two versions.
const JSON_PATH: [&str; 2] = ["JSONPath", "jsonPath"];

/// Returns whether a value is a definition in the older form.
pub(super) fn is_older(meta: &TypeMeta) -> bool {
    meta.api_version == OLDER
}

/// Converts a definition from the older form to the served one, whose type drops what is left over.
pub(super) fn to_served(mut definition: Value) -> Value {
    let Some(Value::Object(spec)) = definition.get_mut("spec") else {
        return definition;
    };
    let first = spec.remove("version");
    let versions = spec.entry("versions").or_insert(Value::Null);
    if let (Some(name), true) = (first, is_empty(versions)) {
        *versions = serde_json::json!([{"name": name, "served": true, "storage": true}]);
    }
    for (common, own) in COMMON {
        let value = spec.remove(common).filter(|value| !value.is_null());
        for version in members(spec.get_mut("versions")) {
            if let Some(value) = &value {
                version.insert(own.to_owned(), value.clone());
            }
        }
    }
    for version in members(spec.get_mut("versions")) {
        for column in members(version.get_mut("additionalPrinterColumns")) {
            rename(column, JSON_PATH);
        }
    }
    if let Some(Value::Object(conversion)) = spec.get_mut("conversion") {
        let address = conversion.remove("webhookClientConfig");
        let reviews = conversion.remove("conversionReviewVersions");
        let parts = [
            ("clientConfig", address),
            ("conversionReviewVersions", reviews),
        ];
        let parts = parts.into_iter().filter_map(|(name, part)| {
            let part = part.filter(|part| !part.is_null())?;
            Some((name.to_owned(), part))
        });
        let webhook: Map<String, Value> = parts.collect();
        if !webhook.is_empty() {
            conversion.insert("webhook".to_owned(), webhook.into());
        }
    }
    definition
}

/// Prints a definition in the older form. `id` is its type in the served one.
pub(super) fn print(id: TypeId, meta: &TypeMeta, definition: &Value) -> String {
    let mut spec = definition["spec"].clone();
    if let Value::Object(spec) = &mut spec {
        to_older(spec);
    }
    let mut text = format!(
        r#"{{"kind":"{}","apiVersion":"{}","metadata":"#,
        meta.kind, meta.api_version
    );
    text.push_str(&part(id, &["metadata"], &definition["metadata"]));
    text.push_str(r#","spec":"#);
    text.push_str(&struct_text(&spec, &SPEC, |name, path, value| {
        if name == "conversion" {
            return struct_text(value, &CONVERSION, |_, path, value| {
                let path = [&["spec", "conversion"], path].concat();
                part(id, &path, value)
            });
        }
        part(id, &[&["spec"], path].concat(), value)
    }));
    text.push_str(r#","status":"#);
    text.push_str(&part(id, &["status"], &definition["status"]));
    text.push('}');
    text
}

/// Prints the fields of a struct in order.
fn struct_text<'a>(
    value: &Value,
    fields: &[(&'a str, &'a [&'a str])],
    print: impl Fn(&str, &[&'a str], &Value) -> String,
) -> String {
    let present = fields.iter().filter_map(|(name, path)| {
        let value = value.get(name)?;
        Some(format!("\"{name}\":{}", print(name, path, value)))
    });
    format!("{{{}}}", present.collect::<Vec<_>>().join(","))
}

/// Prints a part of an object by the type that the path of fields leads to.
fn part(id: TypeId, path: &[&str], value: &Value) -> String {
    let table = id.table();
    let found = path
        .iter()
        .try_fold(id, |id, name| match table.field(id, name)?.value {
            FieldValue::Message(inner) => Some(inner),
            _ => None,
        });
    print_in_go_order(table, found, value, None)
}

/// Converts the spec to the older form.
fn to_older(spec: &mut Map<String, Value>) {
    // It is a pointer there, and never nil.
    spec.entry("preserveUnknownFields").or_insert(false.into());
    let mut versions = spec.remove("versions").unwrap_or_default();
    let first = versions.get(0).cloned().unwrap_or_default();
    if let Some(name) = first.get("name") {
        spec.insert("version".to_owned(), name.clone());
    }
    let mut has_common_schema = false;
    for (common, own) in COMMON {
        let value = first.get(own).filter(|value| !is_empty(value));
        let is_common = versions.as_array().is_some_and(|versions| {
            let mut others = versions.iter().map(|version| version.get(own));
            others.all(|other| other.filter(|other| !is_empty(other)) == value)
        });
        has_common_schema |= is_common && own == "schema";
        if !is_common || (own == "selectableFields" && !has_common_schema) {
            continue;
        }
        if let Some(value) = value {
            spec.insert(common.to_owned(), value.clone());
        }
        for version in members(Some(&mut versions)) {
            version.remove(own);
        }
    }
    for version in members(Some(&mut versions)) {
        for column in members(version.get_mut("additionalPrinterColumns")) {
            rename(column, [JSON_PATH[1], JSON_PATH[0]]);
        }
    }
    for column in members(spec.get_mut("additionalPrinterColumns")) {
        rename(column, [JSON_PATH[1], JSON_PATH[0]]);
    }
    spec.insert("versions".to_owned(), versions);
    if let Some(Value::Object(conversion)) = spec.get_mut("conversion")
        && let Some(Value::Object(mut webhook)) = conversion.remove("webhook")
    {
        let parts = [
            ("webhookClientConfig", "clientConfig"),
            ("conversionReviewVersions", "conversionReviewVersions"),
        ];
        for (older, name) in parts {
            if let Some(part) = webhook.remove(name) {
                conversion.insert(older.to_owned(), part);
            }
        }
    }
}

fn rename(object: &mut Map<String, Value>, [from, to]: [&str; 2]) {
    if let Some(value) = object.remove(from) {
        object.insert(to.to_owned(), value);
    }
}

/// Returns the objects of a list.
fn members(list: Option<&mut Value>) -> impl Iterator<Item = &mut Map<String, Value>> {
    let items = list.and_then(Value::as_array_mut).into_iter().flatten();
    items.filter_map(Value::as_object_mut)
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}
