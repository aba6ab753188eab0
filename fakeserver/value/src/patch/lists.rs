//! Merges lists: matches items, merges or deletes them, and orders the result.

use std::{
    cmp::Ordering,
    collections::{BTreeMap, BTreeSet},
};

use serde_json::Value;

use super::{
    error::{PatchError, bad_directive, bad_type, other},
    print::{go_type, print_list},
    strategic::{DIRECTIVE, FieldType, Fields, SET_ELEMENT_ORDER, Type, merge_map},
};
use crate::go_text::plain;

pub(super) fn merge_list(
    original: Vec<Value>,
    patch: Vec<Value>,
    field: FieldType<'_>,
    is_deletion: bool,
) -> Result<Vec<Value>, PatchError> {
    // Deletions apply with any strategy of the list.
    if !field.strategy.merge && !is_deletion {
        return Ok(patch);
    }
    let Some(kind) = element_kind(&original, &patch)? else {
        return Ok(original);
    };
    if kind != Kind::Map {
        if is_deletion {
            let deleted = Positions::new(&patch, Identity::Value);
            let is_kept = |item: &Value| deleted.of(item).is_none();
            return Ok(original.into_iter().filter(is_kept).collect());
        }
        let mut seen = BTreeSet::new();
        let all = original.iter().chain(&patch);
        let merged = all.filter(|item| seen.insert(item.to_string())).cloned();
        let merged = merged.collect();
        let (chosen, rest) = partition(merged, &patch, field.merge_key)?;
        return in_order(
            chosen,
            rest,
            &patch,
            &original,
            Identity::of(kind, field.merge_key),
        );
    }
    let Some(merge_key) = field.merge_key else {
        return Err(other("cannot merge lists without merge key for struct"));
    };
    let (original, patch) = apply_special_items(original, patch, merge_key)?;
    let merged = merge_items(original.clone(), patch.clone(), merge_key, field.ty.items())?;
    let (chosen, rest) = partition(merged, &patch, Some(merge_key))?;
    in_order(chosen, rest, &patch, &original, Identity::Key(merge_key))
}

/// Does what items with a directive say, and takes them out of the patch.
fn apply_special_items(
    mut original: Vec<Value>,
    patch: Vec<Value>,
    merge_key: &str,
) -> Result<(Vec<Value>, Vec<Value>), PatchError> {
    let mut plain = Vec::new();
    let mut is_replaced = false;
    let mut deleted = BTreeSet::new();
    for item in patch {
        let Some(directive) = item.get(DIRECTIVE) else {
            plain.push(item);
            continue;
        };
        match directive.as_str() {
            Some("delete") => {
                let key = key_of(&item, merge_key)?;
                if deleted.is_empty() {
                    check_maps(&original)?;
                }
                deleted.insert(key.to_string());
            }
            // The rest is still looked at, to take other directives out.
            Some("replace") => is_replaced = true,
            Some("merge") => {
                return Err(other("merging lists cannot yet be specified in the patch"));
            }
            _ => {
                return Err(bad_directive(
                    directive,
                    item.as_object().unwrap_or(&Fields::new()),
                ));
            }
        }
    }
    if is_replaced {
        return Ok((plain, Vec::new()));
    }
    if !deleted.is_empty() {
        let is_deleted = |key: &Value| deleted.contains(&key.to_string());
        original.retain(|other| !other.get(merge_key).is_some_and(is_deleted));
    }
    Ok((original, plain))
}

/// Merges each item into the one of its key, or appends it unchanged.
fn merge_items(
    mut original: Vec<Value>,
    patch: Vec<Value>,
    merge_key: &str,
    ty: Type<'_>,
) -> Result<Vec<Value>, PatchError> {
    let mut positions = Positions::new(&original, Identity::Key(merge_key));
    for (number, item) in patch.into_iter().enumerate() {
        key_of(&item, merge_key)?;
        if number == 0 {
            check_maps(&original)?;
        }
        match (positions.of(&item), item) {
            (Some(found), Value::Object(item)) => {
                let Value::Object(old) = original[found].take() else {
                    unreachable!("items with a key are maps");
                };
                original[found] = merge_map(old, item, ty)?.into();
            }
            (_, item) => {
                positions.add(&item, original.len());
                original.push(item);
            }
        }
    }
    Ok(original)
}

fn check_maps(items: &[Value]) -> Result<(), PatchError> {
    match items.iter().position(|item| !item.is_object()) {
        None => Ok(()),
        Some(at) => Err(other(format!("value for key {at} is not a map"))),
    }
}

/// Splits a list into the items that another list has, too, and the rest.
fn partition(
    items: Vec<Value>,
    by: &[Value],
    merge_key: Option<&str>,
) -> Result<(Vec<Value>, Vec<Value>), PatchError> {
    let mut chosen = Vec::new();
    let mut rest = Vec::new();
    let identity = merge_key.map_or(Identity::Value, Identity::Key);
    let positions = Positions::new(by, identity);
    for (number, item) in items.into_iter().enumerate() {
        if let Some(key) = merge_key {
            let Value::Object(_) = item else {
                return Err(bad_type("map[string]interface {}", &item));
            };
            key_of(&item, key)?;
            if number == 0 {
                check_maps(by)?;
            }
        }
        if positions.of(&item).is_some() {
            chosen.push(item);
        } else {
            rest.push(item);
        }
    }
    Ok((chosen, rest))
}

/// The identity by which two items of a list are the same.
#[derive(Clone, Copy)]
enum Identity<'a> {
    Value,
    Key(&'a str),
}

// === impl Identity ===

impl<'a> Identity<'a> {
    fn of(kind: Kind, merge_key: Option<&'a str>) -> Identity<'a> {
        match (kind, merge_key) {
            (Kind::Map, Some(key)) => Identity::Key(key),
            _ => Identity::Value,
        }
    }

    /// Returns a text that only the same items have, if the item has an identity.
    fn text(self, item: &Value) -> Option<String> {
        match self {
            Identity::Value => Some(item.to_string()),
            Identity::Key(key) => item.get(key).map(Value::to_string),
        }
    }
}

/// The places of the items of a list, the first of those that are the same.
struct Positions<'a> {
    identity: Identity<'a>,
    places: BTreeMap<String, usize>,
}

// === impl Positions ===

impl<'a> Positions<'a> {
    fn new(list: &[Value], identity: Identity<'a>) -> Self {
        let mut positions = Self {
            identity,
            places: BTreeMap::new(),
        };
        for (place, item) in list.iter().enumerate() {
            positions.add(item, place);
        }
        positions
    }

    fn add(&mut self, item: &Value, place: usize) {
        if let Some(text) = self.identity.text(item) {
            self.places.entry(text).or_insert(place);
        }
    }

    fn of(&self, item: &Value) -> Option<usize> {
        self.places.get(&self.identity.text(item)?).copied()
    }
}

/// Puts the items of a patch into its order, the others into the server's, and zips the two: an item of the patch goes
/// first unless the server had both the other way round.
fn in_order(
    chosen: Vec<Value>,
    rest: Vec<Value>,
    order: &[Value],
    server_order: &[Value],
    identity: Identity<'_>,
) -> Result<Vec<Value>, PatchError> {
    if let Identity::Key(merge_key) = identity {
        for list in [&chosen[..], order, &rest, server_order] {
            for item in list {
                if !item.is_object() {
                    return Err(bad_type("map[string]interface {}", item));
                }
                key_of(item, merge_key)?;
            }
        }
    }
    let (order, server_order) = (
        Positions::new(order, identity),
        Positions::new(server_order, identity),
    );
    let chosen = sorted(chosen, &order);
    let rest = sorted(rest, &server_order);
    let mut merged = Vec::with_capacity(chosen.len() + rest.len());
    let (mut chosen, mut rest) = (chosen.into_iter().peekable(), rest.into_iter().peekable());
    while let (Some(left), Some(right)) = (rest.peek(), chosen.peek()) {
        let places = (server_order.of(left), server_order.of(right));
        let left_first = matches!(places, (Some(left), Some(right)) if left < right);
        merged.extend(if left_first {
            rest.next()
        } else {
            chosen.next()
        });
    }
    merged.extend(rest);
    merged.extend(chosen);
    Ok(merged)
}

/// Sorts items by their places in another list.
fn sorted(items: Vec<Value>, order: &Positions<'_>) -> Vec<Value> {
    let items = items.into_iter().map(|item| (order.of(&item), item));
    let mut items: Vec<_> = items.collect();
    items.sort_by(|(a, _), (b, _)| match (a, b) {
        (Some(a), Some(b)) => a.cmp(b),
        _ => Ordering::Equal,
    });
    items.into_iter().map(|(_, item)| item).collect()
}

/// The kind of the items of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Scalar,
    Map,
}

/// Returns the common kind of the items of two lists; `None` if both are empty.
fn element_kind(left: &[Value], right: &[Value]) -> Result<Option<Kind>, PatchError> {
    let mut items = left.iter().chain(right);
    let Some(first) = items.next() else {
        return Ok(None);
    };
    if first.is_array() {
        return Err(PatchError::ListOfLists);
    }
    if first.is_null() || items.any(|item| go_type(item) != go_type(first)) {
        return Err(other(format!(
            "list element types are not identical: [{} {}]",
            print_list(left),
            print_list(right)
        )));
    }
    Ok(Some(if first.is_object() {
        Kind::Map
    } else {
        Kind::Scalar
    }))
}

/// Merges a list whose order the patch sets, which puts the items it names into that order; `None` if there is no list.
pub(super) fn order_list(
    original: Option<Vec<Value>>,
    patch: Option<Vec<Value>>,
    order: &[Value],
    field: FieldType<'_>,
) -> Result<Option<Vec<Value>>, PatchError> {
    check_order(patch.as_deref().unwrap_or_default(), order, field.merge_key)?;
    let server_order = original.clone().unwrap_or_default();
    let kind = element_kind(&server_order, patch.as_deref().unwrap_or_default());
    let merged = match (original, patch) {
        (Some(original), Some(patch)) => merge_list(original, patch, field, false)?,
        (Some(list), None) | (None, Some(list)) => list,
        (None, None) => return Ok(None),
    };
    let (chosen, rest) = partition(merged, order, field.merge_key)?;
    let kind = kind?.ok_or_else(|| other("no elements in any of the given slices"))?;
    let identity = Identity::of(kind, field.merge_key);
    in_order(chosen, rest, order, &server_order, identity).map(Some)
}

/// Checks that the items that the patch changes stand in the order that the patch sets.
fn check_order(
    patch: &[Value],
    order: &[Value],
    merge_key: Option<&str>,
) -> Result<(), PatchError> {
    if patch.is_empty() || order.is_empty() {
        return Ok(());
    }
    let is_deletion = |item: &&Value| merge_key.is_some() && item[DIRECTIVE] == "delete";
    let kept: Vec<_> = patch.iter().filter(|item| !is_deletion(item)).collect();
    let mut ordered = order.iter();
    let mut rest = kept.as_slice();
    while let [item, after @ ..] = rest {
        if item.get(DIRECTIVE).is_some() {
            rest = after;
            continue;
        }
        let Some(other_item) = ordered.next() else {
            return Err(other(format!(
                "The order in patch list:\n{}\n doesn't match {SET_ELEMENT_ORDER} list:\n{}\n",
                print_list(patch),
                print_list(order)
            )));
        };
        if same(item, other_item, merge_key)? {
            rest = after;
        }
    }
    Ok(())
}

fn same(left: &Value, right: &Value, merge_key: Option<&str>) -> Result<bool, PatchError> {
    match merge_key {
        None => Ok(left == right),
        Some(key) => Ok(key_of(left, key)? == key_of(right, key)?),
    }
}

fn key_of<'v>(item: &'v Value, merge_key: &str) -> Result<&'v Value, PatchError> {
    item.get(merge_key).ok_or_else(|| {
        other(format!(
            "map: {} does not contain declared merge key: {merge_key}",
            plain(item)
        ))
    })
}
