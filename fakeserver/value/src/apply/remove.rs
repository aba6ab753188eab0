//! Removes fields from an object.

use serde_json::{Map, Value};

use crate::{
    managed_fields::{FieldSet, Shape, as_element, field_element, shape},
    schema::Schema,
};

/// The value without the fields of `removed`, and without anything below them.
///
/// What has fields below it that are removed stays, also if nothing is left in it.
pub(super) fn remove(value: &Value, removed: &FieldSet, schema: Option<Schema<'_>>) -> Value {
    match (shape(Some(value), schema), value) {
        (Shape::Map, Value::Object(fields)) => remove_from_map(fields, removed, schema).into(),
        (Shape::List, Value::Array(items)) => remove_from_list(items, removed, schema),
        // The schema has changed: the value is atomic now, but was not when a part of it was owned.
        (_, Value::Object(_)) => Value::Object(Map::new()),
        (_, Value::Array(_)) => Value::Array(Vec::new()),
        (_, scalar) => scalar.clone(),
    }
}

fn remove_from_map(
    fields: &Map<String, Value>,
    removed: &FieldSet,
    schema: Option<Schema<'_>>,
) -> Map<String, Value> {
    let left = fields.iter().filter_map(|(name, value)| {
        let element = field_element(name);
        if removed.has(&element) {
            return None;
        }
        let schema = schema.and_then(|schema| schema.field(name));
        let value = match removed.below(&element) {
            Some(below) => remove(value, below, schema),
            None => value.clone(),
        };
        Some((name.clone(), value))
    });
    left.collect()
}

fn remove_from_list(items: &[Value], removed: &FieldSet, schema: Option<Schema<'_>>) -> Value {
    let left = items.iter().filter_map(|item| {
        let schema = schema?;
        let element = as_element(item, schema);
        if removed.has(&element) {
            return None;
        }
        Some(match removed.below(&element) {
            Some(below) => remove(item, below, schema.items()),
            None => item.clone(),
        })
    });
    left.collect()
}
