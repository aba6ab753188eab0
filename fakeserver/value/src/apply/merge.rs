//! Merges a configuration into an object.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::{
    managed_fields::{Element, Shape, elements, shape},
    schema::Schema,
};

/// The side that an item of a merged list comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// Only the object has it: its place in the object's list.
    Live(usize),
    /// The configuration has it: its place in the configuration's list.
    Config(usize),
}

/// Merges the configuration into the object. At least one of them exists.
pub fn merge(live: Option<&Value>, config: Option<&Value>, schema: Option<Schema<'_>>) -> Value {
    let (Some(live), Some(config)) = (live, config) else {
        return config.or(live).cloned().unwrap_or_default();
    };
    let typical = if config.is_null() { live } else { config };
    match shape(Some(typical), schema) {
        Shape::Map if !is_empty(live) || !is_empty(config) => {
            let none = Map::new();
            let live = live.as_object().unwrap_or(&none);
            let config = config.as_object().unwrap_or(&none);
            merge_maps(live, config, schema).into()
        }
        Shape::List if !is_empty(live) || !is_empty(config) => merge_lists(live, config, schema),
        _ => config.clone(),
    }
}

/// The order of a merged list: both orders are kept as far as they agree; where they do not, the configuration's counts.
///
/// What only the object has stays before the items that it stood before, as far as those have not been placed yet.
pub(super) fn interleave(live: &[Element], config: &[Element]) -> Vec<Origin> {
    let in_live: BTreeSet<&Element> = live.iter().collect();
    let in_config: BTreeSet<&Element> = config.iter().collect();
    let mut placed = BTreeSet::new();
    let mut shared = config
        .iter()
        .filter(|item| in_live.contains(item))
        .peekable();
    let mut order = Vec::with_capacity(live.len().max(config.len()));
    let (mut at_live, mut at_config) = (0, 0);
    while at_live < live.len() || at_config < config.len() {
        let wanted = config.get(at_config);
        if let Some(item) = live.get(at_live) {
            let is_out_of_turn = shared.peek().is_some_and(|next| *next != item);
            if wanted == Some(item) {
                at_live += 1;
            } else if !in_config.contains(item) {
                order.push(Origin::Live(at_live));
                at_live += 1;
                continue;
            } else if wanted.is_some() && is_out_of_turn {
                at_live += 1;
                continue;
            } else if placed.contains(item) {
                at_live += 1;
            }
        }
        if let Some(wanted) = wanted {
            order.push(Origin::Config(at_config));
            placed.insert(wanted);
            shared.next_if(|next| *next == wanted);
            at_config += 1;
        }
    }
    order
}

fn merge_maps(
    live: &Map<String, Value>,
    config: &Map<String, Value>,
    schema: Option<Schema<'_>>,
) -> Map<String, Value> {
    let mut merged = Map::new();
    let only_config = config.keys().filter(|name| !live.contains_key(*name));
    for name in live.keys().chain(only_config) {
        let schema = schema.and_then(|schema| schema.field(name));
        let value = merge(live.get(name), config.get(name), schema);
        merged.insert(name.clone(), value);
    }
    merged
}

fn merge_lists(live: &Value, config: &Value, schema: Option<Schema<'_>>) -> Value {
    let live = elements(Some(live), schema);
    let config = elements(Some(config), schema);
    let names = |items: &[(Element, &Value)]| -> Vec<Element> {
        items.iter().map(|(element, _)| element.clone()).collect()
    };
    let order = interleave(&names(&live), &names(&config));
    // Items of the object with equal keys are replaced by the item of the configuration.
    let mut by_element: BTreeMap<&Element, Option<&Value>> = BTreeMap::new();
    for (element, item) in &live {
        by_element
            .entry(element)
            .and_modify(|existing| *existing = None)
            .or_insert(Some(item));
    }
    let items = schema.and_then(Schema::items);
    let merged = order.into_iter().map(|origin| match origin {
        Origin::Live(at) => live[at].1.clone(),
        Origin::Config(at) => {
            let (element, item) = &config[at];
            let existing = by_element.get(element).copied().flatten();
            merge(existing, Some(item), items)
        }
    });
    merged.collect()
}

/// Returns whether a map or a list is empty, or the value is neither.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => true,
    }
}
