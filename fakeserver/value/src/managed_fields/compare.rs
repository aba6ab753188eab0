//! Comparison of two states of an object, field by field, by the schema's merge rules.

use serde_json::{Map, Value};

use super::{Element, FieldSet, Shape, elements, field_element, shape};
use crate::schema::Schema;

/// The difference of two states.
#[derive(Debug, Default)]
pub struct Comparison {
    /// Fields that are new, or have another value.
    pub set: FieldSet,
    /// Fields that are gone.
    pub removed: FieldSet,
}

/// Compares two states of an object. `schema` is that of its kind; undeclared values are compared by shape.
pub fn compare(before: &Value, after: &Value, schema: Option<Schema<'_>>) -> Comparison {
    // The whole object is no field.
    Difference::of(Some(before), Some(after), schema).below
}

/// The difference between two values.
#[derive(Default)]
struct Difference {
    is_set: bool,
    is_removed: bool,
    below: Comparison,
}

// === impl Difference ===

impl Difference {
    fn of(before: Option<&Value>, after: Option<&Value>, schema: Option<Schema<'_>>) -> Self {
        let mut found = Self::default();
        let is_empty = is_empty_container(before) && is_empty_container(after);
        match shape(after.or(before), schema) {
            Shape::Map if !is_empty && is_map(before) && is_map(after) => {
                found.below.add_map(before, after, schema);
            }
            Shape::List if !is_empty && is_list(before) && is_list(after) => {
                // Most lists stay as they are, and to tell items apart takes longer than to compare them.
                if before != after {
                    found.below.add_list(before, after, schema);
                }
            }
            _ => {
                found.is_set = before.is_some() && after.is_some() && before != after;
                found.below.add_other_shape(before, after, schema);
            }
        }
        found.is_set |= before.is_none() && after.is_some();
        found.is_removed = before.is_some() && after.is_none();
        found
    }

    /// Compares the items that have one path element. What is there twice is compared as one value, without parts.
    fn of_items(before: &[&Value], after: &[&Value], schema: Option<Schema<'_>>) -> Self {
        fn one<'v>(items: &[&'v Value]) -> Option<&'v Value> {
            items.first().copied()
        }
        let mut found = Self::default();
        match (before.len(), after.len()) {
            (0..=1, 0..=1) => {
                let (before, after) = (one(before), one(after));
                return Self::of(before, after, schema);
            }
            (2.., 2..) => found.is_set = before != after,
            (2.., _) => {
                if let Some(after) = one(after) {
                    found = Self::of(None, Some(after), schema);
                }
                found.is_removed = true;
            }
            (_, 2..) => {
                if let Some(before) = one(before) {
                    found = Self::of(Some(before), None, schema);
                }
                found.is_set = true;
            }
        }
        found
    }
}

// === impl Comparison ===

impl Comparison {
    fn add_map(
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
            let schema = schema.and_then(|schema| schema.field(name));
            let found = Difference::of(before.get(name), after.get(name), schema);
            self.add(|| field_element(name), found);
        }
    }

    /// Adds the fields of a map that takes the place of another value, or gives way to one.
    fn add_other_shape(
        &mut self,
        before: Option<&Value>,
        after: Option<&Value>,
        schema: Option<Schema<'_>>,
    ) {
        let (Some(was), Some(is)) = (before, after) else {
            return;
        };
        let is_parted = |value| shape(Some(value), schema) == Shape::Map && value.is_object();
        match (is_parted(was), is_parted(is)) {
            (true, false) => self.add_map(before, None, schema),
            (false, true) => self.add_map(None, after, schema),
            _ => {}
        }
    }

    fn add_list(
        &mut self,
        before: Option<&Value>,
        after: Option<&Value>,
        schema: Option<Schema<'_>>,
    ) {
        let before = distinct(before, schema);
        let after = distinct(after, schema);
        let items = schema.and_then(Schema::items);
        for (element, found) in &before {
            if find(&after, element).is_empty() {
                self.add(|| element.clone(), Difference::of_items(found, &[], items));
            }
        }
        for (element, found) in after {
            let found = Difference::of_items(find(&before, &element), &found, items);
            self.add(|| element, found);
        }
    }

    /// Adds the differences of a part. The element is created only if there are any.
    fn add(&mut self, element: impl FnOnce() -> Element, found: Difference) {
        let Comparison { set, removed } = found.below;
        let is_set = found.is_set || !set.is_empty();
        let is_removed = found.is_removed || !removed.is_empty();
        if !is_set && !is_removed {
            return;
        }
        let element = element();
        if is_removed {
            let element = element.clone();
            self.removed.insert_node(element, found.is_removed, removed);
        }
        if is_set {
            self.set.insert_node(element, found.is_set, set);
        }
    }
}

/// The items of a list by their path elements, in the order of those.
type ItemsByElement<'v> = Vec<(Element, Vec<&'v Value>)>;

fn distinct<'v>(list: Option<&'v Value>, schema: Option<Schema<'_>>) -> ItemsByElement<'v> {
    let mut items = elements(list, schema);
    items.sort_by(|(a, _), (b, _)| a.cmp(b));
    let mut distinct: ItemsByElement<'v> = Vec::with_capacity(items.len());
    for (element, item) in items {
        match distinct.last_mut() {
            Some((own, same)) if *own == element => same.push(item),
            _ => distinct.push((element, vec![item])),
        }
    }
    distinct
}

fn find<'d, 'v>(items: &'d ItemsByElement<'v>, element: &str) -> &'d [&'v Value] {
    let at = items.binary_search_by(|(own, _)| own.as_str().cmp(element));
    at.map_or(&[], |at| &items[at].1)
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
