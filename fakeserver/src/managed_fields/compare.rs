//! Which fields differ between two states of an object, field by field as its schema says they merge.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::{Element, FieldSet, Shape, elements, shape};
use crate::schema::Schema;

/// The difference of two states.
#[derive(Debug, Default)]
pub(crate) struct Comparison {
    /// Fields that are new, or have another value.
    pub(crate) set: FieldSet,
    /// Fields that are gone.
    pub(crate) removed: FieldSet,
}

/// Compares two states of an object. `schema` is that of its kind; what it does not describe is compared by shape.
pub(crate) fn compare(before: &Value, after: &Value, schema: Option<Schema<'_>>) -> Comparison {
    let mut walk = Walk {
        path: Vec::new(),
        found: Comparison::default(),
    };
    walk.visit(Some(before), Some(after), schema);
    walk.found
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
        let before = distinct(before, schema);
        let after = distinct(after, schema);
        let items = schema.and_then(Schema::items);
        let only_before = before
            .keys()
            .filter(|element| !after.contains_key(*element));
        for element in after.keys().chain(only_before) {
            self.path.push(element.clone());
            self.visit(
                before.get(element).copied(),
                after.get(element).copied(),
                items,
            );
            self.path.pop();
        }
    }
}

/// The items of a list by their path elements. Of equal ones, the first counts.
fn distinct<'v>(
    list: Option<&'v Value>,
    schema: Option<Schema<'_>>,
) -> BTreeMap<Element, &'v Value> {
    let mut distinct = BTreeMap::new();
    for (element, item) in elements(list, schema) {
        distinct.entry(element).or_insert(item);
    }
    distinct
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
