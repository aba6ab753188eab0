//! The form in which Go prints an object: zero values are filled in or left out by its structs.

use serde_json::{Map, Value, json};

use super::types::{Field, FieldValue, Form, OmitRule, Shape, TypeId, TypeTable};

const MANAGERS: &str = "managedFields";

/// The object as the API server would print it after reading it into its Go type.
///
/// Unknown fields are gone, absent ones without `omitempty` are zero or null, empty optional ones are gone, and structs
/// held by value are there. Values are expected to be of their type; those that are not stay as they are.
pub fn canonical(table: &TypeTable, id: TypeId, mut value: Value) -> Value {
    print(table, id, &mut value, EmptyForm::Null);
    value
}

/// Does the same, but keeps lists and maps that are empty in the text: only stored objects have lost the
/// difference.
pub(super) fn as_read(table: &TypeTable, id: TypeId, mut value: Value) -> Value {
    print(table, id, &mut value, EmptyForm::AsRead);
    value
}

/// The same, but only those stay that JSON shows even if they are absent.
pub fn as_printed(table: &TypeTable, id: TypeId, mut value: Value) -> Value {
    print(table, id, &mut value, EmptyForm::Shown);
    value
}

/// The form of a list or a map without items.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EmptyForm {
    /// An empty list or map becomes null or absent.
    Null,
    /// An empty list or map stays in fields that are always shown, and is removed elsewhere.
    Shown,
    /// An empty list or map stays.
    AsRead,
}

/// The same, of one field of an object that has changed since.
pub fn canonical_field(table: &TypeTable, id: TypeId, name: &str, object: &mut Value) {
    let (Some(field), Some(fields)) = (table.field(id, name), object.as_object_mut()) else {
        return;
    };
    let mut value = fields.remove(name).unwrap_or_default();
    if print_field(table, field, &mut value, EmptyForm::Null) {
        fields.insert(name.to_owned(), value);
    }
}

/// Returns whether an object has a list or a map without items that the form of [`canonical`] does not have. The record of
/// managers is left out.
pub fn has_empty(table: &TypeTable, id: TypeId, value: &Value) -> bool {
    match (table.get(id).form, value) {
        (Form::Struct, Value::Object(fields)) => fields
            .iter()
            .filter(|(name, value)| (value.is_array() || value.is_object()) && *name != MANAGERS)
            .any(|(name, value)| {
                let field = table.field(id, name);
                field.is_none_or(|field| has_empty_in(table, field, value))
            }),
        (Form::SchemaOrArray | Form::SchemaOrBool | Form::SchemaOrStringArray, _) => true,
        _ => false,
    }
}

fn has_empty_in(table: &TypeTable, field: &Field, value: &Value) -> bool {
    let is_within = |value: &Value| match field.value {
        FieldValue::Message(id) => has_empty(table, id, value),
        _ => false,
    };
    match (field.shape, value) {
        (Shape::Repeated, Value::Array(items)) => items.is_empty() || items.iter().any(is_within),
        (Shape::Map, Value::Object(entries)) => {
            entries.is_empty() || entries.values().any(is_within)
        }
        _ => is_within(value),
    }
}

/// The same, in place.
fn print(table: &TypeTable, id: TypeId, value: &mut Value, empty: EmptyForm) {
    match (table.get(id).form, &mut *value) {
        (Form::Struct, Value::Object(fields)) => print_struct(table, id, fields, empty),
        (Form::Struct, Value::Null) => {
            let mut fields = Map::new();
            print_struct(table, id, &mut fields, empty);
            *value = fields.into();
        }
        (Form::SchemaOrArray | Form::SchemaOrBool | Form::SchemaOrStringArray, _) => {
            print_schema(table, id, value, empty);
        }
        (Form::Quantity, Value::Null) => *value = json!("0"),
        (Form::IntOrString, Value::Null) => *value = json!(0),
        _ => {}
    }
}

fn print_struct(table: &TypeTable, id: TypeId, fields: &mut Map<String, Value>, empty: EmptyForm) {
    let has_type_meta = table.get(id).has_type_meta;
    fields.retain(|name, value| match table.field(id, name) {
        _ if has_type_meta && matches!(name.as_str(), "kind" | "apiVersion") => {
            *value != "" && !value.is_null()
        }
        Some(field) => print_field(table, field, value, empty),
        None => false,
    });
    for field in table.shown_fields(id) {
        if !fields.contains_key(&field.name) {
            let mut value = Value::Null;
            if print_field(table, field, &mut value, empty) {
                fields.insert(field.name.clone(), value);
            }
        }
    }
}

/// Says whether the field is there at all.
fn print_field(table: &TypeTable, field: &Field, value: &mut Value, empty: EmptyForm) -> bool {
    match field.shape {
        Shape::Single => print_single(table, field, value, empty),
        Shape::Repeated => print_list(table, field, value, empty),
        Shape::Map => print_map(table, field, value, empty),
    }
}

fn print_single(table: &TypeTable, field: &Field, value: &mut Value, empty: EmptyForm) -> bool {
    if field.pointer && value.is_null() {
        return field.omit == OmitRule::Never;
    }
    print_element(table, field, value, empty);
    if field.pointer {
        return true;
    }
    let is_struct = matches!(field.value, FieldValue::Message(_));
    match field.omit {
        OmitRule::Zero => !value.is_null(),
        OmitRule::Empty => is_struct || !is_zero(value),
        OmitRule::Never => true,
    }
}

fn print_list(table: &TypeTable, field: &Field, value: &mut Value, empty: EmptyForm) -> bool {
    match value {
        Value::Array(items) if !items.is_empty() => {
            for item in items {
                print_element(table, field, item, empty);
                show_bytes(field, item);
            }
            true
        }
        Value::Array(_) | Value::Null => {
            // The API server ensures that the items of a list are never null.
            let is_kept = empty != EmptyForm::Null && value.is_array();
            let is_shown = field.omit == OmitRule::Never;
            let stays = empty == EmptyForm::AsRead && value.is_array();
            *value = match &*field.name {
                "items" => json!([]),
                _ if is_kept => json!([]),
                _ => Value::Null,
            };
            is_shown || stays
        }
        _ => true,
    }
}

fn print_map(table: &TypeTable, field: &Field, value: &mut Value, empty: EmptyForm) -> bool {
    match value {
        Value::Object(entries) if !entries.is_empty() => {
            for entry in entries.values_mut() {
                print_element(table, field, entry, empty);
                show_bytes(field, entry);
            }
            true
        }
        Value::Object(_) | Value::Null => {
            if empty == EmptyForm::Null {
                *value = Value::Null;
            }
            field.omit == OmitRule::Never || (empty == EmptyForm::AsRead && value.is_object())
        }
        _ => true,
    }
}

/// One value of a field; null is its zero.
fn print_element(table: &TypeTable, field: &Field, value: &mut Value, empty: EmptyForm) {
    match field.value {
        FieldValue::Message(id) => print(table, id, value, empty),
        _ if !value.is_null() => {}
        FieldValue::String => *value = json!(""),
        FieldValue::Bool => *value = json!(false),
        FieldValue::Int32 | FieldValue::Int64 | FieldValue::Double => *value = json!(0),
        FieldValue::Bytes => {}
    }
}

/// Makes absent bytes among others a text without bytes.
fn show_bytes(field: &Field, value: &mut Value) {
    if field.value == FieldValue::Bytes && value.is_null() {
        *value = json!("");
    }
}

/// A JSON schema in one of the places where something else may stand, too.
fn print_schema(table: &TypeTable, id: TypeId, value: &mut Value, empty: EmptyForm) {
    let schema = table.field(id, "schema").map(|field| field.value);
    let Some(FieldValue::Message(schema)) = schema else {
        return;
    };
    match value {
        Value::Object(_) => print(table, schema, value, empty),
        Value::Array(items) => {
            for item in items.iter_mut().filter(|item| item.is_object()) {
                print(table, schema, item, empty);
            }
        }
        _ => {}
    }
}

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
    }
}
