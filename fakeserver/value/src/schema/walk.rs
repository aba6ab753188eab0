//! Walks an object along its schema.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::arena::{Schema, SchemaType};

/// A step on the way to a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "complete by definition: how JSON nests"
)]
pub enum Step<'a> {
    /// Into a key of an object.
    Key(&'a str),
    /// Into an item of an array.
    Index(usize),
}

/// Decides whether a walk goes into a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "complete by definition: yes or no")]
pub enum Descent {
    /// Into it.
    Into,
    /// Past it.
    Past,
}

/// Visits a value and its parts, from the outside in and keys in order; each with its path and, if it is declared, its
/// schema.
pub fn walk<'v>(
    value: &'v Value,
    schema: Schema<'_>,
    mut visit: impl FnMut(&[Step<'v>], &'v Value, Option<Schema<'_>>) -> Descent,
) {
    go(&mut Vec::new(), value, Some(schema), &mut visit);
}

/// The paths of the fields that the schema does not declare, as the API server prints them.
pub fn unknown_fields(value: &Value, schema: Schema<'_>) -> Vec<String> {
    let mut unknown = Vec::new();
    walk(value, schema, |path, _, schema| match schema {
        None => {
            unknown.push(print_path(path));
            Descent::Past
        }
        Some(schema) if is_open(schema) => Descent::Past,
        Some(_) => Descent::Into,
    });
    unknown
}

/// Removes undeclared fields, as custom resources are pruned, and returns the paths of the removed fields.
///
/// `kind`, `apiVersion` and `metadata` of the root and of embedded objects stay.
pub fn prune(value: &mut Value, schema: Schema<'_>, is_root: bool) -> Vec<String> {
    let mut pruned = Vec::new();
    prune_below("", value, schema, is_root, &mut pruned);
    pruned
}

fn prune_below(
    path: &str,
    value: &mut Value,
    schema: Schema<'_>,
    is_root: bool,
    pruned: &mut Vec<String>,
) {
    match value {
        Value::Object(fields) => prune_object(path, fields, schema, is_root, pruned),
        Value::Array(items) => {
            let Some(schema) = schema.items() else { return };
            for (index, item) in items.iter_mut().enumerate() {
                prune_below(&format!("{path}[{index}]"), item, schema, false, pruned);
            }
        }
        _ => {}
    }
}

/// A path as the API server prints it: `spec.containers[0].image`.
pub fn print_path(path: &[Step<'_>]) -> String {
    let mut out = String::new();
    for step in path {
        match step {
            Step::Key(key) => {
                if !out.is_empty() {
                    out.push('.');
                }
                out.push_str(key);
            }
            Step::Index(index) => write!(out, "[{index}]").expect("a string takes all text"),
        }
    }
    out
}

fn go<'v>(
    path: &mut Vec<Step<'v>>,
    value: &'v Value,
    schema: Option<Schema<'_>>,
    visit: &mut impl FnMut(&[Step<'v>], &'v Value, Option<Schema<'_>>) -> Descent,
) {
    if visit(path, value, schema) == Descent::Past {
        return;
    }
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                path.push(Step::Key(key));
                go(
                    path,
                    value,
                    schema.and_then(|schema| schema.field(key)),
                    visit,
                );
                path.pop();
            }
        }
        Value::Array(items) => {
            let schema = schema.and_then(Schema::items);
            for (index, item) in items.iter().enumerate() {
                path.push(Step::Index(index));
                go(path, item, schema, visit);
                path.pop();
            }
        }
        _ => {}
    }
}

/// Returns whether any key may stand in it.
fn is_open(schema: Schema<'_>) -> bool {
    schema.ty() == SchemaType::Any || schema.preserves_unknown_fields()
}

fn prune_object(
    path: &str,
    fields: &mut Map<String, Value>,
    schema: Schema<'_>,
    is_root: bool,
    pruned: &mut Vec<String>,
) {
    let is_object = is_root || schema.is_embedded_resource();
    let is_meta = |key: &str| is_object && matches!(key, "kind" | "apiVersion" | "metadata");
    fields.retain(|key, value| {
        if is_meta(key) {
            return true;
        }
        let path = if path.is_empty() {
            key.clone()
        } else {
            format!("{path}.{key}")
        };
        match schema.field(key) {
            Some(schema) => {
                prune_below(&path, value, schema, false, pruned);
                true
            }
            None if schema.preserves_unknown_fields() => true,
            None => {
                pruned.push(path);
                false
            }
        }
    });
}
