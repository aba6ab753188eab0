//! Conversion of a value, rather than a text, to a built-in type, as Go's converter of unstructured objects does it.
//!
//! Restoring differs from reading text: numbers are converted and truncated to their size, and errors have other words.

use serde_json::{Value, json};

use super::{
    base64,
    quantity::{Quantity, QuantityError},
    time::{self, Precision},
    types::{Field, FieldValue, Form, Shape, TypeId, TypeTable},
};

/// Converts `value` in place, so that it can be read as the type.
///
/// # Errors
///
/// A value does not fit: of several, the first in the order of the type's fields.
pub fn restore(table: &TypeTable, id: TypeId, value: &mut Value) -> Result<(), String> {
    match table.get(id).form {
        Form::Struct => restore_struct(table, id, value),
        Form::Time => check_time(value, Precision::Seconds),
        Form::MicroTime => check_time(value, Precision::Micros),
        Form::Quantity => check_quantity(value),
        Form::IntOrString => restore_int_or_string(value),
        _ => Ok(()),
    }
}

fn restore_struct(table: &TypeTable, id: TypeId, value: &mut Value) -> Result<(), String> {
    if !matches!(value, Value::Null | Value::Object(_)) {
        return Err(format!("cannot restore struct from: {}", go_kind(value)));
    }
    let ty = table.get(id);
    let identity = ["kind", "apiVersion"].iter().filter(|_| ty.has_type_meta);
    for name in identity {
        check_text(&value[*name], "string")?;
    }
    for field in &ty.fields {
        if let (FieldValue::Message(inner), true) = (field.value, field.inline) {
            restore(table, inner, value)?;
        } else if let Some(member) = value.get_mut(&field.name) {
            restore_field(table, field, member)?;
        }
    }
    Ok(())
}

fn restore_field(table: &TypeTable, field: &Field, value: &mut Value) -> Result<(), String> {
    match (field.shape, value) {
        (_, Value::Null) => Ok(()),
        (Shape::Single, value) => restore_value(table, field, value),
        (Shape::Repeated, Value::Array(items)) => items
            .iter_mut()
            .try_for_each(|item| restore_value(table, field, item)),
        (Shape::Repeated, other) => Err(format!("cannot restore slice from {}", go_kind(other))),
        (Shape::Map, Value::Object(members)) => members
            .values_mut()
            .try_for_each(|member| restore_value(table, field, member)),
        (Shape::Map, other) => Err(format!("cannot restore map from {}", go_kind(other))),
    }
}

fn restore_value(table: &TypeTable, field: &Field, value: &mut Value) -> Result<(), String> {
    let named = field.go_element.trim_start_matches('*');
    match (field.value, &*value) {
        (FieldValue::Message(id), _) => restore(table, id, value),
        (_, Value::Null)
        | (FieldValue::Bool, Value::Bool(_))
        | (FieldValue::Double, Value::Number(_)) => Ok(()),
        (FieldValue::String, other) => check_text(other, named),
        (FieldValue::Bytes, other) => check_bytes(other),
        (FieldValue::Int32 | FieldValue::Int64, Value::Number(number)) => {
            let whole = number
                .as_i64()
                .or_else(|| whole(number.as_f64().unwrap_or_default()))
                .ok_or_else(|| format!("cannot convert float64 to {named}"))?;
            *value = if field.value == FieldValue::Int32 {
                json!(low_half(whole))
            } else {
                json!(whole)
            };
            Ok(())
        }
        (FieldValue::Bool, _) => Err("unrecognized type: bool".to_owned()),
        (FieldValue::Double, _) => Err("unrecognized type: float64".to_owned()),
        (FieldValue::Int32, _) => Err("unrecognized type: int32".to_owned()),
        (FieldValue::Int64, _) => Err("unrecognized type: int64".to_owned()),
    }
}

fn check_text(value: &Value, named: &str) -> Result<(), String> {
    match value {
        Value::Null | Value::String(_) => Ok(()),
        // Go can convert an integer to a string, but the converter does not.
        Value::Number(number) if !number.is_f64() => {
            Err(format!("cannot convert int64 to {named}"))
        }
        _ => Err("unrecognized type: string".to_owned()),
    }
}

fn check_bytes(value: &Value) -> Result<(), String> {
    match value {
        Value::String(text) => base64::decode(text)
            .map(drop)
            .map_err(|error| format!("error decoding from json: {error}")),
        Value::Null | Value::Array(_) => Ok(()),
        other => Err(format!("cannot restore slice from {}", go_kind(other))),
    }
}

fn check_time(value: &Value, precision: Precision) -> Result<(), String> {
    match value {
        Value::Null => Ok(()),
        Value::String(text) => time::parse(text, precision)
            .map(drop)
            .map_err(|error| error.to_string()),
        other => Err(misfit(other, "string")),
    }
}

fn check_quantity(value: &Value) -> Result<(), String> {
    let parsed = match value {
        Value::Null => return Ok(()),
        Value::String(text) => text.trim().parse::<Quantity>(),
        Value::Number(number) => number.to_string().parse(),
        _ => Err(QuantityError::Format),
    };
    parsed.map(drop).map_err(|error| error.to_string())
}

fn restore_int_or_string(value: &mut Value) -> Result<(), String> {
    match value {
        Value::Null | Value::String(_) => Ok(()),
        Value::Number(number) => {
            let whole = number.as_i64().or_else(|| whole(number.as_f64()?));
            let fitting = whole.and_then(|whole| i32::try_from(whole).ok());
            let fitting = fitting.ok_or_else(|| misfit(&json!(number), "int32"))?;
            *value = json!(fitting);
            Ok(())
        }
        other => Err(misfit(other, "int32")),
    }
}

fn misfit(value: &Value, go: &str) -> String {
    let what = match value {
        Value::Bool(_) => "bool".to_owned(),
        Value::Number(number) if go == "int32" => format!("number {number}"),
        Value::Number(_) => "number".to_owned(),
        Value::Array(_) => "array".to_owned(),
        _ => "object".to_owned(),
    };
    format!("json: cannot unmarshal {what} into Go value of type {go}")
}

/// Returns a whole number as Go converts it; one that is too large becomes the smallest integer.
fn whole(number: f64) -> Option<i64> {
    /// The first number above all integers of 64 bits.
    const BEYOND: f64 = 9_223_372_036_854_775_808.0;
    if number.fract() != 0.0 {
        return None;
    }
    if !(-BEYOND..BEYOND).contains(&number) {
        return Some(i64::MIN);
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "whole and within range, as just checked"
    )]
    Some(number as i64)
}

/// Returns the lower 32 bits, which are all that a field of that size keeps.
fn low_half(number: i64) -> i32 {
    let [a, b, c, d, ..] = number.to_le_bytes();
    i32::from_le_bytes([a, b, c, d])
}

/// Returns the kind of a value, as Go's reflection names it.
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
