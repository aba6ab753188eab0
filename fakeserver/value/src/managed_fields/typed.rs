//! Checks that objects and configurations fit the schema of their kind, in the API server's words.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::{as_element, key_of, print_element};
use crate::{
    go_text,
    schema::{ListType, Schema, SchemaType},
};

/// Checks a configuration.
///
/// # Errors
/// All findings as one message, each with its path.
pub fn check(config: &Value, schema: Option<Schema<'_>>) -> Result<(), String> {
    check_by(TypeFindings::default(), config, schema)
}

/// Checks an object, in whose lists items may be repeated.
///
/// # Errors
/// Those of [`check`].
pub fn check_with_duplicates(object: &Value, schema: Option<Schema<'_>>) -> Result<(), String> {
    let findings = TypeFindings {
        allows_duplicates: true,
        ..TypeFindings::default()
    };
    check_by(findings, object, schema)
}

/// The findings of a check.
#[derive(Debug, Default)]
struct TypeFindings {
    messages: Vec<String>,
    /// True if items of a list may have the same key.
    allows_duplicates: bool,
}

impl TypeFindings {
    fn push(&mut self, message: String) {
        self.messages.push(message);
    }
}

fn check_by(
    mut findings: TypeFindings,
    value: &Value,
    schema: Option<Schema<'_>>,
) -> Result<(), String> {
    visit("", value, schema, &mut findings);
    match findings.messages.as_slice() {
        [] => Ok(()),
        [only] => Err(only.clone()),
        all => Err(format!("errors:\n  {}", all.join("\n  "))),
    }
}

/// Returns whether the managers of an object can be recorded: its values are of their types, and the items of its lists can
/// be identified. Items may be repeated.
pub fn fits(value: &Value, schema: Option<Schema<'_>>) -> bool {
    let Some(schema) = schema else {
        return true;
    };
    match (schema.ty(), value) {
        (SchemaType::Any, Value::Array(_) | Value::Object(_)) => !is_scalar(schema),
        (SchemaType::Object, _) if holds_anything(schema) => true,
        (_, Value::Null)
        | (SchemaType::Any, _)
        | (SchemaType::String, Value::String(_))
        | (SchemaType::Integer | SchemaType::Number, Value::Number(_))
        | (SchemaType::Boolean, Value::Bool(_)) => true,
        (SchemaType::Object, Value::Object(fields)) => {
            // The texts, numbers and truth values of a built-in type were read as such.
            let is_read = schema.definition_name().is_some();
            let is_fit = |value: &Value| is_read && !value.is_array() && !value.is_object();
            let mut fields = fields.iter();
            fields.all(|(name, value)| is_fit(value) || fits(value, schema.field(name)))
        }
        (SchemaType::Array, Value::Array(items)) => {
            let is_atomic = schema.list_type() == ListType::Atomic;
            items.iter().all(|item| {
                (is_atomic || check_element(item, schema).is_ok()) && fits(item, schema.items())
            })
        }
        (SchemaType::String, Value::Bool(_) | Value::Number(_)) => {
            schema.format().is_some_and(|format| format != "byte")
        }
        (SchemaType::IntOrString, _) => !value.is_object() && !value.is_array(),
        _ => false,
    }
}

fn visit(path: &str, value: &Value, schema: Option<Schema<'_>>, findings: &mut TypeFindings) {
    let Some(schema) = schema else {
        return;
    };
    let mut refuse = |expected: &str, found: String| {
        findings.push(at(path, &format!("expected {expected}, got {found}")));
    };
    match (schema.ty(), value) {
        (SchemaType::Any, Value::Array(_) | Value::Object(_)) if is_scalar(schema) => {
            refuse("any scalar", format!("&{{{}}}", go_text::plain(value)));
        }
        (SchemaType::Object, _) if holds_anything(schema) => {}
        // An IntOrString is read by its own type later.
        (_, Value::Null)
        | (SchemaType::IntOrString | SchemaType::Any, _)
        | (SchemaType::String, Value::String(_))
        | (SchemaType::Integer | SchemaType::Number, Value::Number(_))
        | (SchemaType::Boolean, Value::Bool(_)) => {}
        (SchemaType::Object, Value::Object(fields)) => visit_map(path, fields, schema, findings),
        (SchemaType::Object, other) => refuse("map", format!("&{{{}}}", go_text::plain(other))),
        (SchemaType::Array, Value::Array(items)) => visit_list(path, items, schema, findings),
        (SchemaType::Array, other) => refuse("list", format!("&{{{}}}", go_text::plain(other))),
        (SchemaType::Integer | SchemaType::Number, other) => {
            refuse(
                "numeric (int or float)",
                go_text::type_name(other).to_owned(),
            );
        }
        (SchemaType::Boolean, other) => {
            refuse("boolean", format!("&{{{}}}", go_text::plain(other)));
        }
        (SchemaType::String, other) if schema.format().is_none_or(|format| format == "byte") => {
            let printed = format!(
                "&value.valueUnstructured{{Value:{}}}",
                go_text::syntax(other)
            );
            refuse("string", printed);
        }
        // What has a format may be any scalar, such as a number or a string.
        (_, Value::Object(_) | Value::Array(_)) => {
            refuse("any scalar", format!("&{{{}}}", go_text::plain(value)));
        }
        _ => {}
    }
}

/// Tells whether the values of a built-in type without a declared type are numbers or texts.
fn is_scalar(schema: Schema<'_>) -> bool {
    let name = schema.definition_name();
    name.is_some_and(|name| name.ends_with(".Quantity"))
}

/// Tells whether a built-in type is an object in its schema only: its values can be anything.
fn holds_anything(schema: Schema<'_>) -> bool {
    schema.definition_name().is_some()
        && schema.properties().next().is_none()
        && schema.additional().is_none()
}

fn visit_map(
    path: &str,
    fields: &Map<String, Value>,
    schema: Schema<'_>,
    findings: &mut TypeFindings,
) {
    for (name, value) in fields {
        let path = format!("{path}.{name}");
        let names_type = matches!(name.as_str(), "kind" | "apiVersion");
        if names_type && schema.is_embedded_resource() && !value.is_string() && !value.is_null() {
            let printed = format!(
                "&value.valueUnstructured{{Value:{}}}",
                go_text::syntax(value)
            );
            findings.push(at(&path, &format!("expected string, got {printed}")));
        }
        match schema.field(name) {
            Some(schema) => visit(&path, value, Some(schema), findings),
            None if schema.preserves_unknown_fields() => {}
            // Kind and version are in every object, even if its schema does not declare them.
            None if is_type_meta(&path) => {}
            None => {
                findings.push(at(&path, "field not declared in schema"));
                return;
            }
        }
    }
}

fn visit_list(path: &str, items: &[Value], schema: Schema<'_>, findings: &mut TypeFindings) {
    let mut seen = BTreeSet::new();
    for (index, item) in items.iter().enumerate() {
        if schema.list_type() == ListType::Atomic {
            visit(&format!("{path}[{index}]"), item, schema.items(), findings);
            continue;
        }
        if let Err(why) = check_element(item, schema) {
            findings.push(at(path, &format!("element {index}: {why}")));
            return;
        }
        let element = as_element(item, schema);
        let printed = print_element(&element);
        if !seen.insert(element) && !findings.allows_duplicates {
            findings.push(at(path, &format!("duplicate entries for key {printed}")));
        }
        visit(&format!("{path}{printed}"), item, schema.items(), findings);
    }
}

/// Checks that an item of a list has a valid key.
fn check_element(item: &Value, schema: Schema<'_>) -> Result<(), String> {
    if schema.list_type() == ListType::Set {
        let why = match item {
            Value::Object(_) => "associative list without keys has an element that's a map type",
            Value::Array(_) => "not supported: associative list with lists as elements",
            Value::Null => "associative list without keys has an element that's an explicit null",
            _ => return Ok(()),
        };
        return Err(why.to_owned());
    }
    match item {
        Value::Null => Err("associative list with keys may not have a null element".to_owned()),
        Value::Object(_) => {
            let keys = schema.list_map_keys();
            let has_key = |key: &String| key_of(item, key, schema).is_some();
            if keys.is_empty() || keys.iter().any(has_key) {
                return Ok(());
            }
            let keys: Vec<String> = keys.iter().map(|key| go_text::quote(key)).collect();
            Err(format!(
                "associative list with keys has an element that omits all key fields [{}] (and doesn't have default \
                 values for any key fields)",
                keys.join(" ")
            ))
        }
        _ => Err("associative list with keys may not have non-map elements".to_owned()),
    }
}

fn is_type_meta(path: &str) -> bool {
    matches!(path, ".kind" | ".apiVersion")
}

fn at(path: &str, what: &str) -> String {
    if path.is_empty() {
        what.to_owned()
    } else {
        format!("{path}: {what}")
    }
}
