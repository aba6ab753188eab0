//! The way values merge, and the path elements of list items.

use std::{borrow::Cow, collections::BTreeMap};

use serde_json::Value;

use crate::schema::{ListType, Schema, SchemaType};

/// The granularity at which a value merges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// The value is replaced as a whole.
    Leaf,
    /// The value merges key by key.
    Map,
    /// The value merges item by item.
    List,
}

/// A path element of an item, as `fieldsV1` writes it.
pub type Element = String;

/// Returns the way a value merges: as its schema says; without a schema, objects key by key and everything else as one
/// value.
pub fn shape(value: Option<&Value>, schema: Option<Schema<'_>>) -> Shape {
    let described = schema.filter(|schema| schema.ty() != SchemaType::Any);
    let Some(schema) = described else {
        return match value {
            Some(Value::Object(_)) => Shape::Map,
            _ => Shape::Leaf,
        };
    };
    match schema.ty() {
        SchemaType::Object if !schema.is_atomic_map() => Shape::Map,
        SchemaType::Array if schema.list_type() != ListType::Atomic => Shape::List,
        _ => Shape::Leaf,
    }
}

/// The items of a list with the path elements that tell them apart, in order.
pub fn elements<'v>(
    list: Option<&'v Value>,
    schema: Option<Schema<'_>>,
) -> Vec<(Element, &'v Value)> {
    let Some((Value::Array(items), schema)) = list.zip(schema) else {
        return Vec::new();
    };
    items
        .iter()
        .map(|item| (as_element(item, schema), item))
        .collect()
}

/// Returns the path element of a field.
pub fn field_element(name: &str) -> Element {
    let mut element = Element::with_capacity("f:".len() + name.len());
    element.push_str("f:");
    element.push_str(name);
    element
}

/// The path element of an item of the list that `schema` describes: by its keys, or by its value.
pub fn as_element(item: &Value, schema: Schema<'_>) -> Element {
    if schema.list_type() != ListType::Map {
        return format!("v:{item}");
    }
    let keys = schema.list_map_keys().iter();
    let keys: BTreeMap<&str, Cow<'_, Value>> = keys
        .filter_map(|key| Some((key.as_str(), without_fraction(key_of(item, key, schema)?))))
        .collect();
    let mut element = b"k:".to_vec();
    serde_json::to_writer(&mut element, &keys).expect("values serialize into memory");
    String::from_utf8(element).expect("JSON is text")
}

/// The value of a key of a list's item: a key may have a default.
pub fn key_of<'v>(item: &'v Value, key: &str, schema: Schema<'v>) -> Option<Cow<'v, Value>> {
    if let Some(value) = item.get(key) {
        return Some(Cow::Borrowed(value));
    }
    schema
        .items()
        .and_then(|items| items.property(key))
        .and_then(Schema::default)
        .map(Cow::Borrowed)
}

/// Returns a number without a fraction as an integer, as Go prints it.
fn without_fraction(value: Cow<'_, Value>) -> Cow<'_, Value> {
    let number = value
        .as_f64()
        .filter(|number| value.is_f64() && number.fract() == 0.0);
    match number.map(|number| format!("{number:.0}").parse::<i64>()) {
        Some(Ok(integer)) => Cow::Owned(integer.into()),
        _ => value,
    }
}
