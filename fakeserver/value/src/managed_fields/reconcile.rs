//! Reconciles owned fields with the present schema, which may be another one than that of the write.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{ConversionError, Entry, FieldSet, KindDescription, Shape, shape};
use crate::schema::{Schema, SchemaType};

/// Adapts the fields of `entries` to the schemas of their versions: an owner of parts of a list or map that is atomic now
/// owns it as a whole. The parts of one that was atomic have no owner until they are written. Entries of versions that the kind
/// does not have any more are removed.
///
/// `live` is the object in the version `own_version`.
///
/// # Errors
///
/// The object cannot be converted to one of these versions, and so no fields in it be compared.
pub fn reconcile(
    entries: &mut Vec<Entry>,
    live: &Value,
    described: KindDescription<'_>,
    own_version: &str,
) -> Result<(), ConversionError> {
    let mut schemas = BTreeMap::new();
    for entry in &*entries {
        let version = entry.api_version.as_str();
        // The object is converted once a version: a body may have any number of entries.
        if schemas.contains_key(version) {
            continue;
        }
        let schema = match described.in_version(live, own_version, version) {
            Ok((_, schema)) => Some(schema),
            Err(ConversionError::Missing) => None,
            Err(error) => return Err(error),
        };
        schemas.insert(version.to_owned(), schema);
    }
    entries.retain_mut(|entry| {
        let Some(schema) = schemas[&entry.api_version] else {
            return false;
        };
        // Most fields are as the schema has them: they are not copied.
        if !fits(&entry.fields, schema) {
            entry.fields = reconciled(&entry.fields, schema);
        }
        true
    });
    Ok(())
}

/// Returns whether no field is a part of a list or map that is atomic.
fn fits(fields: &FieldSet, schema: Option<Schema<'_>>) -> bool {
    let Some(schema) = schema.filter(|schema| schema.ty() != SchemaType::Any) else {
        return true;
    };
    let mut parted = fields.nodes().filter(|(_, _, below)| !below.is_empty());
    parted.all(|(element, _, below)| {
        let part = part_of(schema, element);
        part.is_none_or(|part| !is_atomic(part) && fits(below, Some(part)))
    })
}

/// Returns the schema of a part of a list or map.
fn part_of<'a>(schema: Schema<'a>, element: &str) -> Option<Schema<'a>> {
    match element.strip_prefix("f:") {
        Some(name) if schema.ty() == SchemaType::Object => schema.field(name),
        _ => schema.items(),
    }
}

fn reconciled(fields: &FieldSet, schema: Option<Schema<'_>>) -> FieldSet {
    let Some(schema) = schema.filter(|schema| schema.ty() != SchemaType::Any) else {
        return fields.clone();
    };
    let mut reconciled_fields = FieldSet::default();
    for (element, is_member, below) in fields.nodes() {
        let part = part_of(schema, element);
        let (is_member, below) = match part {
            Some(part) if !below.is_empty() && is_atomic(part) => (true, FieldSet::default()),
            _ => (is_member, reconciled(below, part)),
        };
        reconciled_fields.insert_node(element.to_owned(), is_member, below);
    }
    reconciled_fields
}

/// Returns whether a schema is that of a list or map that is one value.
fn is_atomic(schema: Schema<'_>) -> bool {
    matches!(schema.ty(), SchemaType::Array | SchemaType::Object)
        && shape(None, Some(schema)) == Shape::Leaf
}
