//! Strategic merge patch: a merge patch that knows which lists merge, and by which key.
//!
//! The order of what it does, and the words of its errors, are those of `k8s.io/apimachinery/pkg/util/strategicpatch`.

use std::cmp::Ordering;

use serde_json::{Map, Value};

use super::print::{go_type, print, print_list};
use crate::schema::{PatchStrategy, Schema, SchemaType};

const DIRECTIVE: &str = "$patch";
const RETAIN_KEYS: &str = "$retainKeys";
const SET_ELEMENT_ORDER: &str = "$setElementOrder";
const DELETE_FROM_PRIMITIVE_LIST: &str = "$deleteFromPrimitiveList";

/// A patch that cannot be applied; the messages are the API server's.
///
/// None of these goes away by trying again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatchError {
    /// `$deleteFromPrimitiveList` is not followed by the name of a list.
    #[error("invalid patch format of primitive list")]
    BadPrimitiveList,
    /// `$retainKeys` is no list, or lacks a key of the patch.
    #[error("invalid patch format of retainKeys")]
    BadRetainKeys,
    /// `$setElementOrder` is not followed by the name of a list.
    #[error("invalid patch format of setElementOrder list")]
    BadSetElementOrder,
    /// A list of lists cannot be merged.
    #[error("lists of lists are not supported")]
    ListOfLists,
    /// Something else does not fit.
    #[error("{message}")]
    Other {
        /// Go's words for it.
        message: String,
    },
}

type Fields = Map<String, Value>;

/// Applies a patch to an object of a schema.
///
/// # Errors
/// The patch does not fit the object, the schema or its own directives.
pub fn merge_strategically(
    original: Value,
    patch: Value,
    schema: Schema<'_>,
) -> Result<Value, PatchError> {
    match (original, patch) {
        (Value::Object(original), Value::Object(patch)) => {
            merge_map(original, patch, Type::Known(schema)).map(Value::Object)
        }
        (_, patch) => Err(bad_type("map[string]interface {}", &patch)),
    }
}

/// What is known of a value's type.
#[derive(Clone, Copy)]
enum Type<'a> {
    Known(Schema<'a>),
    /// It lies in a field that the schema does not declare.
    Unknown,
}

/// A field's type, and how a patch treats it.
#[derive(Clone, Copy)]
struct FieldType<'a> {
    ty: Type<'a>,
    strategy: PatchStrategy,
    merge_key: Option<&'a str>,
}

// === impl PatchError ===

impl PatchError {
    /// The HTTP status of the answer. One of 500 has no reason.
    pub fn code(&self) -> u16 {
        match self {
            PatchError::BadPrimitiveList
            | PatchError::BadRetainKeys
            | PatchError::BadSetElementOrder => 400,
            PatchError::ListOfLists => 422,
            PatchError::Other { .. } => 500,
        }
    }
}

// === impl Type ===

impl<'a> Type<'a> {
    fn field(self, key: &str) -> Result<FieldType<'a>, PatchError> {
        let Type::Known(schema) = self else {
            return Ok(FieldType {
                ty: Type::Unknown,
                strategy: PatchStrategy::default(),
                merge_key: None,
            });
        };
        if let Some(field) = schema.property(key) {
            return Ok(FieldType {
                ty: Type::Known(field),
                strategy: field.patch_strategy(),
                merge_key: field.merge_key(),
            });
        }
        let is_map = schema.additional().is_some() && schema.properties().next().is_none();
        Err(match (schema.ty(), schema.definition_name()) {
            (SchemaType::Object, _) if is_map => {
                other("merging an object in json but data type is not struct, instead is: map")
            }
            (_, Some(name)) => {
                let name = name.rsplit('.').next().unwrap_or(name);
                other(format!(
                    "unable to find api field in struct {name} for the json field \"{key}\""
                ))
            }
            (ty, None) => other(format!(
                "merging an object in json but data type is not struct, instead is: {}",
                if ty == SchemaType::Array {
                    "slice"
                } else {
                    "string"
                }
            )),
        })
    }

    fn items(self) -> Type<'a> {
        match self {
            Type::Known(schema) => schema.items().map_or(Type::Unknown, Type::Known),
            Type::Unknown => Type::Unknown,
        }
    }
}

fn merge_map(mut original: Fields, mut patch: Fields, ty: Type<'_>) -> Result<Fields, PatchError> {
    if let Some(directive) = patch.get(DIRECTIVE) {
        return match directive.as_str() {
            Some("replace") => {
                patch.remove(DIRECTIVE);
                Ok(patch)
            }
            Some("delete") => Ok(Fields::new()),
            _ => Err(bad_directive(directive, &patch)),
        };
    }
    retain_keys(&mut original, &mut patch)?;
    set_element_orders(&mut original, &mut patch, ty)?;
    for (key, value) in patch {
        match directive_target(
            &key,
            DELETE_FROM_PRIMITIVE_LIST,
            PatchError::BadPrimitiveList,
        )? {
            Some(list) => merge_field(&mut original, list, value, ty, true)?,
            None => merge_field(&mut original, &key, value, ty, false)?,
        }
    }
    Ok(original)
}

/// Merges one field of a patch into an object; `is_deletion` if it lists what to delete.
fn merge_field(
    original: &mut Fields,
    key: &str,
    patch: Value,
    ty: Type<'_>,
    is_deletion: bool,
) -> Result<(), PatchError> {
    if patch.is_null() {
        original.remove(key);
        return Ok(());
    }
    let Some(present) = original.get_mut(key) else {
        if let (Some(value), false) = (without_directives(patch), is_deletion) {
            original.insert(key.to_owned(), value);
        }
        return Ok(());
    };
    *present = match (present.take(), patch) {
        (Value::Object(old), Value::Object(new)) => {
            let field = ty.field(key)?;
            if field.strategy.replace {
                new.into()
            } else {
                merge_map(old, new, field.ty)?.into()
            }
        }
        (Value::Array(old), Value::Array(new)) => {
            merge_list_field(old, new, ty.field(key)?, is_deletion)?.into()
        }
        (old, new) if is_deletion && go_type(&old) != go_type(&new) => old,
        (old, new) if go_type(&old) != go_type(&new) => match without_directives(new) {
            Some(value) => value,
            None => {
                original.remove(key);
                return Ok(());
            }
        },
        (_, new) => new,
    };
    Ok(())
}

/// Clears what the patch does not retain.
fn retain_keys(original: &mut Fields, patch: &mut Fields) -> Result<(), PatchError> {
    let Some(keys) = patch.remove(RETAIN_KEYS) else {
        return Ok(());
    };
    let keys = keys.as_array().ok_or(PatchError::BadRetainKeys)?;
    let is_retained = |key: &str| keys.iter().any(|other| other == key);
    for (key, value) in &*patch {
        let is_directive =
            key.starts_with(DELETE_FROM_PRIMITIVE_LIST) || key.starts_with(SET_ELEMENT_ORDER);
        if !value.is_null() && !is_directive && !is_retained(key) {
            return Err(PatchError::BadRetainKeys);
        }
    }
    original.retain(|key, _| is_retained(key));
    Ok(())
}

/// Merges the lists whose order the patch sets, and takes them out of the patch.
fn set_element_orders(
    original: &mut Fields,
    patch: &mut Fields,
    ty: Type<'_>,
) -> Result<(), PatchError> {
    let directives: Vec<_> = (patch.keys())
        .filter(|key| key.starts_with(SET_ELEMENT_ORDER))
        .cloned()
        .collect();
    for directive in directives {
        let order = patch.remove(&directive).unwrap_or_default();
        let Value::Array(order) = order else {
            return Err(bad_type("[]interface {}", &order));
        };
        let target = directive_target(
            &directive,
            SET_ELEMENT_ORDER,
            PatchError::BadSetElementOrder,
        )?;
        let key = target.expect("the key begins with the directive");
        let old = take_list(original.get(key))?;
        let new = take_list(patch.get(key))?;
        let field = ty.field(key)?;
        check_order(new.as_deref().unwrap_or_default(), &order, field.merge_key)?;
        let merged = match (&old, &new) {
            (Some(old), Some(new)) => merge_list_field(old.clone(), new.clone(), field, false)?,
            (Some(list), None) | (None, Some(list)) => list.clone(),
            (None, None) => continue,
        };
        let old = old.unwrap_or_default();
        let (chosen, rest) = partition(merged, &order, field.merge_key)?;
        let kind = element_kind(&old, &new.unwrap_or_default())?;
        let kind = kind.ok_or_else(|| other("no elements in any of the given slices"))?;
        let list = in_order(
            chosen,
            rest,
            &order,
            &old,
            Identity::of(kind, field.merge_key),
        )?;
        patch.remove(key);
        original.insert(key.to_owned(), list.into());
    }
    Ok(())
}

fn take_list(value: Option<&Value>) -> Result<Option<Vec<Value>>, PatchError> {
    match value {
        None => Ok(None),
        Some(Value::Array(items)) => Ok(Some(items.clone())),
        Some(other) => Err(bad_type("[]interface {}", other)),
    }
}

/// What the patch changes must stand in the order that the patch sets.
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

fn merge_list_field(
    original: Vec<Value>,
    patch: Vec<Value>,
    field: FieldType<'_>,
    is_deletion: bool,
) -> Result<Vec<Value>, PatchError> {
    if !field.strategy.merge {
        return Ok(patch);
    }
    let Some(kind) = element_kind(&original, &patch)? else {
        return Ok(original);
    };
    if kind != Kind::Map {
        if is_deletion {
            return Ok(original
                .into_iter()
                .filter(|item| !patch.contains(item))
                .collect());
        }
        let mut merged = Vec::new();
        for item in original.iter().chain(&patch) {
            if !merged.contains(item) {
                merged.push(item.clone());
            }
        }
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
        return Err(other(
            "cannot merge lists without merge key for type struct",
        ));
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
    for item in patch {
        let Some(directive) = item.get(DIRECTIVE) else {
            plain.push(item);
            continue;
        };
        match directive.as_str() {
            Some("delete") => {
                let key = key_of(&item, merge_key)?;
                check_maps(&original)?;
                original.retain(|other| other.get(merge_key) != Some(key));
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
    Ok(if is_replaced {
        (plain, Vec::new())
    } else {
        (original, plain)
    })
}

/// Merges each item into the one of its key, or appends it as it is.
fn merge_items(
    mut original: Vec<Value>,
    patch: Vec<Value>,
    merge_key: &str,
    ty: Type<'_>,
) -> Result<Vec<Value>, PatchError> {
    for item in patch {
        let key = key_of(&item, merge_key)?;
        check_maps(&original)?;
        let found = original
            .iter_mut()
            .find(|other| other.get(merge_key) == Some(key));
        match (found, item) {
            (Some(found), Value::Object(item)) => {
                let Value::Object(old) = found.take() else {
                    unreachable!("items with a key are maps");
                };
                *found = merge_map(old, item, ty)?.into();
            }
            (_, item) => original.push(item),
        }
    }
    Ok(original)
}

fn check_maps(items: &[Value]) -> Result<(), PatchError> {
    match items.iter().position(|item| !item.is_object()) {
        None => Ok(()),
        Some(at) => Err(other(format!("value for key {at} is not a map."))),
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
    for item in items {
        let is_chosen = match merge_key {
            None => by.contains(&item),
            Some(key) => {
                let Value::Object(_) = item else {
                    return Err(bad_type("map[string]interface {}", &item));
                };
                let value = key_of(&item, key)?;
                check_maps(by)?;
                by.iter().any(|other| other.get(key) == Some(value))
            }
        };
        if is_chosen {
            chosen.push(item)
        } else {
            rest.push(item)
        }
    }
    Ok((chosen, rest))
}

/// What makes two items of a list the same.
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

    fn position(self, list: &[Value], item: &Value) -> Option<usize> {
        list.iter().position(|other| match self {
            Identity::Value => other == item,
            Identity::Key(key) => other.get(key).is_some() && other.get(key) == item.get(key),
        })
    }
}

/// Puts the items of a patch into its order, the others into the server's, and zips the two: an item of the patch goes
/// first unless the server had both the other way round.
fn in_order(
    mut chosen: Vec<Value>,
    mut rest: Vec<Value>,
    order: &[Value],
    server_order: &[Value],
    identity: Identity<'_>,
) -> Result<Vec<Value>, PatchError> {
    if let Identity::Key(_) = identity {
        check_maps(&chosen)?;
        check_maps(&rest)?;
    }
    let by = |order: &[Value], a: &Value, b: &Value| match (
        identity.position(order, a),
        identity.position(order, b),
    ) {
        (Some(a), Some(b)) => a.cmp(&b),
        _ => Ordering::Equal,
    };
    chosen.sort_by(|a, b| by(order, a, b));
    rest.sort_by(|a, b| by(server_order, a, b));
    let mut merged = Vec::with_capacity(chosen.len() + rest.len());
    let (mut chosen, mut rest) = (chosen.into_iter().peekable(), rest.into_iter().peekable());
    while let (Some(left), Some(right)) = (rest.peek(), chosen.peek()) {
        let places = (
            identity.position(server_order, left),
            identity.position(server_order, right),
        );
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

/// What the items of a list are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Scalar,
    Map,
}

/// What all items of two lists are; `None` if there are none.
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

fn key_of<'v>(item: &'v Value, merge_key: &str) -> Result<&'v Value, PatchError> {
    item.get(merge_key).ok_or_else(|| {
        other(format!(
            "map: {} does not contain declared merge key: {merge_key}",
            print(item)
        ))
    })
}

/// What a patch adds where nothing was: without nulls, and without whatever carries a directive.
fn without_directives(value: Value) -> Option<Value> {
    match value {
        Value::Object(fields) if fields.contains_key(DIRECTIVE) => None,
        Value::Object(fields) => {
            let fields = fields.into_iter().filter(|(_, value)| !value.is_null());
            let fields = fields.filter_map(|(key, value)| Some((key, without_directives(value)?)));
            Some(Value::Object(fields.collect()))
        }
        Value::Array(items) => Some(items.into_iter().filter_map(without_directives).collect()),
        other => Some(other),
    }
}

/// The list that a directive is about: what follows its name and a slash.
fn directive_target<'k>(
    key: &'k str,
    directive: &str,
    error: PatchError,
) -> Result<Option<&'k str>, PatchError> {
    match key.strip_prefix(directive) {
        None => Ok(None),
        Some(rest) => rest.strip_prefix('/').map(Some).ok_or(error),
    }
}

fn bad_directive(directive: &Value, patch: &Fields) -> PatchError {
    let patch = print(&Value::Object(patch.clone()));
    other(format!(
        "unknown patch type: {} in map: {patch}",
        print(directive)
    ))
}

fn bad_type(expected: &str, found: &Value) -> PatchError {
    other(format!(
        "expected a {expected}, but received a {}",
        go_type(found)
    ))
}

fn other(message: impl Into<String>) -> PatchError {
    PatchError::Other {
        message: message.into(),
    }
}
