//! Merges maps, and applies their directives.

use serde_json::{Map, Value};

use super::{
    error::{PatchError, bad_directive, bad_type, other},
    lists::{merge_list, order_list},
    print::go_type,
};
use crate::schema::{PatchStrategy, Schema, SchemaType};

pub(super) const DIRECTIVE: &str = "$patch";
pub(super) const RETAIN_KEYS: &str = "$retainKeys";
pub(super) const SET_ELEMENT_ORDER: &str = "$setElementOrder";
const DELETE_FROM_PRIMITIVE_LIST: &str = "$deleteFromPrimitiveList";

pub(super) type Fields = Map<String, Value>;

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

/// The known type of a value.
#[derive(Clone, Copy)]
pub(super) enum Type<'a> {
    Known(Schema<'a>),
    /// The type of a field that the schema does not declare.
    Unknown,
}

/// A field's type, and how a patch treats it.
#[derive(Clone, Copy)]
pub(super) struct FieldType<'a> {
    pub(super) ty: Type<'a>,
    pub(super) strategy: PatchStrategy,
    pub(super) merge_key: Option<&'a str>,
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

    pub(super) fn items(self) -> Type<'a> {
        match self {
            Type::Known(schema) => schema.items().map_or(Type::Unknown, Type::Known),
            Type::Unknown => Type::Unknown,
        }
    }
}

pub(super) fn merge_map(
    mut original: Fields,
    mut patch: Fields,
    ty: Type<'_>,
) -> Result<Fields, PatchError> {
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
    let merged = match (original.remove(key), patch) {
        (Some(Value::Object(old)), Value::Object(new)) => {
            let field = ty.field(key)?;
            Some(if field.strategy.replace {
                new.into()
            } else {
                merge_map(old, new, field.ty)?.into()
            })
        }
        (Some(Value::Array(old)), Value::Array(new)) => {
            Some(merge_list(old, new, ty.field(key)?, is_deletion)?.into())
        }
        (Some(old), new) if go_type(&old) == go_type(&new) => Some(new),
        (old, _) if is_deletion => old,
        (_, new) => without_directives(new),
    };
    original.extend(merged.map(|value| (key.to_owned(), value)));
    Ok(())
}

/// Clears the keys that the patch does not retain.
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
        let new = take_list(patch.remove(key).as_ref())?;
        if let Some(list) = order_list(old, new, &order, ty.field(key)?)? {
            original.insert(key.to_owned(), list.into());
        }
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

/// Returns the value that a patch adds where none was: without nulls, and without parts that carry a directive.
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

/// Returns the list that a directive is about: the part after its name and a slash.
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
