//! What Go prints of an object: zero values filled in or left out as the structs say.

use serde_json::{Map, Value, json};

use super::types::{Field, FieldValue, Form, Omit, Shape, TypeId, TypeTable};

/// The object as the API server would print it after reading it into its Go type.
///
/// Unknown fields are gone, absent ones without `omitempty` are zero or null, empty optional ones are gone, and structs
/// held by value are there. Values are expected to be of their type; those that are not stay as they are.
pub fn canonical(table: &TypeTable, id: TypeId, value: Value) -> Value {
    let ty = table.get(id);
    match (ty.form, value) {
        (Form::Struct, Value::Object(fields)) => canonical_struct(table, id, fields).into(),
        (Form::Struct, Value::Null) => canonical_struct(table, id, Map::new()).into(),
        (Form::SchemaOrArray | Form::SchemaOrBool | Form::SchemaOrStringArray, value) => {
            canonical_schema(table, id, value)
        }
        (Form::Quantity, Value::Null) => json!("0"),
        (Form::IntOrString, Value::Null) => json!(0),
        (_, value) => value,
    }
}

fn canonical_struct(
    table: &TypeTable,
    id: TypeId,
    mut fields: Map<String, Value>,
) -> Map<String, Value> {
    let mut out = Map::new();
    if table.get(id).has_type_meta {
        for name in ["kind", "apiVersion"] {
            let value = fields
                .remove(name)
                .filter(|value| value != "" && !value.is_null());
            out.extend(value.map(|value| (name.to_owned(), value)));
        }
    }
    for (name, value) in fields {
        if let Some(field) = table.field(id, &name) {
            let value = canonical_field(table, field, value);
            out.extend(value.map(|value| (name, value)));
        }
    }
    for field in table.shown_fields(id) {
        if !out.contains_key(&field.name) {
            let value = canonical_field(table, field, Value::Null);
            out.extend(value.map(|value| (field.name.clone(), value)));
        }
    }
    out
}

fn canonical_field(table: &TypeTable, field: &Field, value: Value) -> Option<Value> {
    match field.shape {
        Shape::Single => canonical_single(table, field, value),
        Shape::Repeated => canonical_list(table, field, value),
        Shape::Map => canonical_map(table, field, value),
    }
}

fn canonical_single(table: &TypeTable, field: &Field, value: Value) -> Option<Value> {
    if field.pointer {
        return match (value, field.omit) {
            (Value::Null, Omit::Never) => Some(Value::Null),
            (Value::Null, _) => None,
            (value, _) => Some(canonical_element(table, field, value)),
        };
    }
    let value = canonical_element(table, field, value);
    let is_struct = matches!(field.value, FieldValue::Message(_));
    match field.omit {
        Omit::Zero if value.is_null() => None,
        Omit::Empty if !is_struct && is_zero(&value) => None,
        _ => Some(value),
    }
}

fn canonical_list(table: &TypeTable, field: &Field, value: Value) -> Option<Value> {
    match value {
        Value::Array(items) if !items.is_empty() => {
            let items = items
                .into_iter()
                .map(|item| canonical_element(table, field, item));
            Some(items.collect())
        }
        Value::Array(_) | Value::Null => match field.omit {
            // The API server sees to it that lists of objects are never null.
            Omit::Never if field.name == "items" => Some(json!([])),
            Omit::Never => Some(Value::Null),
            _ => None,
        },
        other => Some(other),
    }
}

fn canonical_map(table: &TypeTable, field: &Field, value: Value) -> Option<Value> {
    match value {
        Value::Object(entries) if !entries.is_empty() => {
            let entries = (entries.into_iter())
                .map(|(key, value)| (key, canonical_element(table, field, value)));
            Some(Value::Object(entries.collect()))
        }
        Value::Object(_) | Value::Null => (field.omit == Omit::Never).then_some(Value::Null),
        other => Some(other),
    }
}

/// One value of a field; null is its zero.
fn canonical_element(table: &TypeTable, field: &Field, value: Value) -> Value {
    match (field.value, value) {
        (FieldValue::Message(id), value) => canonical(table, id, value),
        (FieldValue::String, Value::Null) => json!(""),
        (FieldValue::Bool, Value::Null) => json!(false),
        (FieldValue::Int32 | FieldValue::Int64 | FieldValue::Double, Value::Null) => json!(0),
        (_, value) => value,
    }
}

/// A JSON schema in one of the places where something else may stand, too.
fn canonical_schema(table: &TypeTable, id: TypeId, value: Value) -> Value {
    let schema = table.field(id, "schema").map(|field| field.value);
    let Some(FieldValue::Message(schema)) = schema else {
        return value;
    };
    match value {
        Value::Object(_) => canonical(table, schema, value),
        Value::Array(items) => (items.into_iter())
            .map(|item| match item {
                Value::Object(_) => canonical(table, schema, item),
                other => other,
            })
            .collect(),
        other => other,
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
