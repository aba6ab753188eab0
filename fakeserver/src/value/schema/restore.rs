//! Errors of converting a value, rather than a text, to a built-in type: Go words them differently.

use serde_json::Value;

use super::types::{Field, FieldValue, Form, Shape, TypeId, TypeTable};

/// The first value in `value` that does not fit the type, in the words of Go's converter of unstructured objects.
///
/// Values of types that read themselves, such as quantities, are not looked at.
pub fn restore_error(table: &TypeTable, id: TypeId, value: &Value) -> Option<String> {
    if table.get(id).form != Form::Struct {
        return None;
    }
    match value {
        Value::Null => None,
        Value::Object(_) => table.get(id).fields.iter().find_map(|field| {
            if let (FieldValue::Message(inner), true) = (field.value, field.inline) {
                return restore_error(table, inner, value);
            }
            field_error(table, field, value.get(&field.name)?)
        }),
        other => Some(format!("cannot restore struct from: {}", go_kind(other))),
    }
}

fn field_error(table: &TypeTable, field: &Field, value: &Value) -> Option<String> {
    match (field.shape, value) {
        (_, Value::Null) => None,
        (Shape::Single, value) => value_error(table, field, value),
        (Shape::Repeated, Value::Array(items)) => items
            .iter()
            .find_map(|item| value_error(table, field, item)),
        (Shape::Repeated, other) => Some(format!("cannot restore slice from {}", go_kind(other))),
        (Shape::Map, Value::Object(members)) => members
            .values()
            .find_map(|member| value_error(table, field, member)),
        (Shape::Map, other) => Some(format!("cannot restore map from {}", go_kind(other))),
    }
}

fn value_error(table: &TypeTable, field: &Field, value: &Value) -> Option<String> {
    let kind = match field.value {
        FieldValue::Message(id) => return restore_error(table, id, value),
        FieldValue::String => "string",
        FieldValue::Bool => "bool",
        FieldValue::Int32 => "int32",
        FieldValue::Int64 => "int64",
        FieldValue::Double => "float64",
        FieldValue::Bytes => return None,
    };
    let named = field.go_element.trim_start_matches('*');
    match (field.value, value) {
        (_, Value::Null)
        | (FieldValue::String, Value::String(_))
        | (FieldValue::Bool, Value::Bool(_))
        | (FieldValue::Double, Value::Number(_)) => None,
        (FieldValue::Int32 | FieldValue::Int64, Value::Number(number)) => {
            let is_whole = number.as_f64().is_some_and(|number| number.fract() == 0.0);
            (!is_whole).then(|| format!("cannot convert float64 to {named}"))
        }
        // Go converts an integer to a string, as the character of that number, and means no harm by it; JSON does.
        (FieldValue::String, Value::Number(number)) if !number.is_f64() => {
            Some(format!("cannot convert int64 to {named}"))
        }
        _ => Some(format!("unrecognized type: {kind}")),
    }
}

/// The kind of a value, as Go's reflection names it.
fn go_kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "invalid",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_f64() => "float64",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "slice",
        Value::Object(_) => "map",
    }
}
