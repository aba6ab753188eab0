//! Correlation of the parts of an object with those of the object that it replaces.
//!
//! An error of a part that did not change does not count. Lists of the type `map` are correlated by their keys, objects
//! by their fields; items of other lists are not.

use serde_json::{Map, Value};

/// A part of an object and the part that it replaces.
#[derive(Clone, Copy, Debug)]
pub(in crate::custom_resources) struct Correlation<'a> {
    pub(in crate::custom_resources) new: &'a Value,
    pub(in crate::custom_resources) old: &'a Value,
    schema: &'a Value,
}

// === impl Correlation ===

impl<'a> Correlation<'a> {
    pub(in crate::custom_resources) fn new(
        new: &'a Value,
        old: &'a Value,
        schema: &'a Value,
    ) -> Self {
        Self { new, old, schema }
    }

    /// Returns the correlation of a field that both have.
    pub(in crate::custom_resources) fn key(&self, name: &str) -> Option<Self> {
        let (new, old) = (
            self.new.as_object()?.get(name)?,
            self.old.as_object()?.get(name)?,
        );
        let property = self.schema["properties"].get(name);
        let additional = &self.schema["additionalProperties"];
        let schema = property.or(additional.is_object().then_some(additional))?;
        Some(Self { new, old, schema })
    }

    /// Returns the correlation of an item with the old one that has its keys.
    pub(in crate::custom_resources) fn index(&self, index: usize) -> Option<Self> {
        let new = self.new.as_array()?.get(index)?;
        let old = find_item(self.schema, self.old.as_array()?, new)?;
        let schema = self.schema.get("items")?;
        Some(Self { new, old, schema })
    }

    /// Returns whether nothing has changed, but for the order of items that have keys.
    pub(in crate::custom_resources) fn is_unchanged(&self) -> bool {
        match (self.new, self.old) {
            (Value::Array(new), Value::Array(old)) => {
                if new.len() != old.len() {
                    return false;
                }
                let mut items = (0..new.len()).map(|index| self.index(index));
                if self.schema["x-kubernetes-list-type"] == "map" {
                    items.all(|item| item.is_some_and(|item| item.is_unchanged()))
                } else {
                    new == old
                }
            }
            (Value::Object(new), Value::Object(old)) => {
                let mut names = new.keys();
                new.len() == old.len()
                    && names.all(|name| self.key(name).is_some_and(|field| field.is_unchanged()))
            }
            (new, old) => new == old,
        }
    }
}

/// Returns the item of a list of the type `map` that has the keys of `item`.
pub(in crate::custom_resources) fn find_item<'a>(
    list: &Value,
    items: &'a [Value],
    item: &Value,
) -> Option<&'a Value> {
    if list["x-kubernetes-list-type"] != "map" {
        return None;
    }
    let key = map_key(item.as_object()?, list);
    let mut items = items.iter();
    items.find(|other| {
        let other = other.as_object();
        other.is_some_and(|other| map_key(other, list) == key)
    })
}

/// Returns the fields of an item that distinguish it from the others of its list.
pub(super) fn map_key(item: &Map<String, Value>, list: &Value) -> Map<String, Value> {
    let keys = list["x-kubernetes-list-map-keys"].as_array();
    let keys = keys.into_iter().flatten().filter_map(Value::as_str);
    let members = keys.filter_map(|key| Some((key.to_owned(), item.get(key)?.clone())));
    members.collect()
}
