//! Which fields differ between two states of an object, field by field as its schema says they merge.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::FieldSet;
use crate::schema::{ListType, Schema, SchemaType};

/// The difference of two states.
#[derive(Debug, Default)]
pub(super) struct Comparison {
    /// Fields that are new, or have another value.
    pub(super) set: FieldSet,
    /// Fields that are gone.
    pub(super) removed: FieldSet,
}

/// Compares two states of an object. `schema` is that of its kind; what it does not describe is compared by shape.
pub(super) fn compare(before: &Value, after: &Value, schema: Option<Schema<'_>>) -> Comparison {
    let mut walk = Walk {
        path: Vec::new(),
        found: Comparison::default(),
    };
    walk.visit(Some(before), Some(after), schema);
    walk.found
}

/// How a value merges.
enum Shape {
    /// As one value.
    Leaf,
    /// Key by key.
    Map,
    /// Item by item.
    List,
}

struct Walk {
    path: Vec<String>,
    found: Comparison,
}

// === impl Walk ===

impl Walk {
    fn visit(&mut self, before: Option<&Value>, after: Option<&Value>, schema: Option<Schema<'_>>) {
        let is_empty = is_empty_container(before) && is_empty_container(after);
        match shape(after.or(before), schema) {
            Shape::Map if !is_empty && is_map(before) && is_map(after) => {
                self.visit_map(before, after, schema);
            }
            Shape::List if !is_empty && is_list(before) && is_list(after) => {
                self.visit_list(before, after, schema);
            }
            _ => {
                if before.is_some() && after.is_some() && before != after {
                    self.found.set.insert(&self.path);
                }
            }
        }
        match (before, after) {
            (None, Some(_)) => self.found.set.insert(&self.path),
            (Some(_), None) => self.found.removed.insert(&self.path),
            _ => {}
        }
    }

    fn visit_map(
        &mut self,
        before: Option<&Value>,
        after: Option<&Value>,
        schema: Option<Schema<'_>>,
    ) {
        let none = Map::new();
        let before = before.and_then(Value::as_object).unwrap_or(&none);
        let after = after.and_then(Value::as_object).unwrap_or(&none);
        let only_before = before.keys().filter(|name| !after.contains_key(*name));
        for name in after.keys().chain(only_before) {
            self.path.push(format!("f:{name}"));
            let schema = schema.and_then(|schema| schema.field(name));
            self.visit(before.get(name), after.get(name), schema);
            self.path.pop();
        }
    }

    fn visit_list(
        &mut self,
        before: Option<&Value>,
        after: Option<&Value>,
        schema: Option<Schema<'_>>,
    ) {
        let before = identified(before, schema);
        let after = identified(after, schema);
        let items = schema.and_then(Schema::items);
        for (element, item) in &after {
            let old = before.iter().find(|(known, _)| known == element);
            self.path.push(element.clone());
            self.visit(old.map(|(_, item)| *item), Some(item), items);
            self.path.pop();
        }
        for (element, item) in &before {
            if after.iter().all(|(known, _)| known != element) {
                self.path.push(element.clone());
                self.visit(Some(item), None, items);
                self.path.pop();
            }
        }
    }
}

/// How a value merges: as its schema says, or where there is none, objects key by key and everything else as one value.
fn shape(value: Option<&Value>, schema: Option<Schema<'_>>) -> Shape {
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

/// The items of a list with the path elements that tell them apart. Of equal ones, the first counts.
fn identified<'v>(list: Option<&'v Value>, schema: Option<Schema<'_>>) -> Vec<(String, &'v Value)> {
    let Some((Value::Array(items), schema)) = list.zip(schema) else {
        return Vec::new();
    };
    let mut identified: Vec<(String, &Value)> = Vec::with_capacity(items.len());
    for item in items {
        let element = match schema.list_type() {
            ListType::Map => {
                let keys: Map<String, Value> = schema
                    .list_map_keys()
                    .iter()
                    .map(|key| (key.clone(), key_of(item, key, schema).into_owned()))
                    .collect();
                format!("k:{}", Value::Object(keys))
            }
            _ => format!("v:{item}"),
        };
        if identified.iter().all(|(known, _)| *known != element) {
            identified.push((element, item));
        }
    }
    identified
}

/// The value of a key of a list's item: a key may have a default.
fn key_of<'v>(item: &'v Value, key: &str, schema: Schema<'v>) -> Cow<'v, Value> {
    if let Some(value) = item.get(key) {
        return Cow::Borrowed(value);
    }
    let default = schema
        .items()
        .and_then(|items| items.property(key))
        .and_then(Schema::default);
    default.map_or(Cow::Owned(Value::Null), Cow::Borrowed)
}

fn is_empty_container(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => true,
        Some(Value::Object(fields)) => fields.is_empty(),
        Some(Value::Array(items)) => items.is_empty(),
        Some(_) => false,
    }
}

fn is_map(value: Option<&Value>) -> bool {
    matches!(value, None | Some(Value::Null | Value::Object(_)))
}

fn is_list(value: Option<&Value>) -> bool {
    matches!(value, None | Some(Value::Null | Value::Array(_)))
}
