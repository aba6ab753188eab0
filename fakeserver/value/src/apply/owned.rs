//! The fields that a configuration owns.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::{
    managed_fields::{Element, FieldSet, Shape, elements, field_element, shape},
    schema::Schema,
};

/// The fields that a configuration says something about: its leaves, its items, and its keys of maps.
pub(super) fn owned(config: &Value, schema: Option<Schema<'_>>) -> FieldSet {
    below(config, schema).1
}

/// Returns whether a value is a field by itself, and the fields below it.
fn below(value: &Value, schema: Option<Schema<'_>>) -> (bool, FieldSet) {
    match (shape(Some(value), schema), value) {
        (Shape::Map, Value::Object(fields)) => (false, of_map(fields, schema)),
        (Shape::List, Value::Array(_)) => (false, of_list(value, schema)),
        (Shape::Leaf, _) => (true, FieldSet::default()),
        _ => (false, FieldSet::default()),
    }
}

fn of_map(fields: &Map<String, Value>, schema: Option<Schema<'_>>) -> FieldSet {
    let mut set = FieldSet::default();
    for (name, value) in fields {
        let property = schema.and_then(|schema| schema.property(name));
        let described = property.or_else(|| schema.and_then(Schema::additional));
        let (is_leaf, below) = below(value, described);
        let says_nothing = match value {
            Value::Null => true,
            Value::Object(fields) => fields.is_empty(),
            _ => false,
        };
        let is_member = is_leaf || says_nothing || property.is_none();
        set.insert_node(field_element(name), is_member, below);
    }
    set
}

fn of_list(list: &Value, schema: Option<Schema<'_>>) -> FieldSet {
    let items = elements(Some(list), schema);
    let mut counts: BTreeMap<&Element, usize> = BTreeMap::new();
    for (element, _) in &items {
        *counts.entry(element).or_default() += 1;
    }
    let mut set = FieldSet::default();
    for (element, item) in &items {
        // Items with equal keys are owned as one.
        let below = if counts[element] == 1 {
            below(item, schema.and_then(Schema::items)).1
        } else {
            FieldSet::default()
        };
        set.insert_node(element.clone(), true, below);
    }
    set
}
