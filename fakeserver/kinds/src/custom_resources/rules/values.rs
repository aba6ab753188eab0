//! Values of JSON as values of expressions, by the types that schemas give them.

use std::sync::Arc;

use fakeserver_cel::{
    Key, Type, Value, associative, convert_text, invalid, map, names::escape, string,
};
use serde_json::Value as Json;

use super::schema_type::{ListKind, SchemaType, Shape};

/// Returns the value that an expression sees of a value of JSON.
pub(super) fn from_json(json: &Json, schema: Option<&SchemaType>) -> Value {
    let shape = schema.map(|schema| &schema.shape);
    match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => from_number(number, shape),
        Json::String(text) => from_text(text, shape),
        Json::Array(items) => {
            let (inner, kind) = match shape {
                Some(Shape::List(inner, kind)) => (Some(&**inner), kind),
                _ => (None, &ListKind::Atomic),
            };
            let items = items.iter().map(|item| from_json(item, inner)).collect();
            match kind {
                ListKind::Atomic => Value::List(Arc::new(items)),
                ListKind::Set => associative(items, &[]),
                ListKind::Map(keys) => associative(items, keys),
            }
        }
        Json::Object(members) => map(members.iter().filter_map(|(name, value)| {
            let (name, inner) = match shape {
                // A field that is null is as good as none.
                Some(Shape::Object(_)) if value.is_null() => return None,
                Some(Shape::Object(fields)) => {
                    let name = escape(name)?;
                    let inner = fields.get(&name).map(|field| &**field);
                    (name, inner)
                }
                Some(Shape::Map(inner)) => (name.clone(), Some(&**inner)),
                _ => (name.clone(), None),
            };
            Some((Key::String(name.into()), from_json(value, inner)))
        })),
    }
}

fn from_text(text: &str, shape: Option<&Shape>) -> Value {
    let converted = match shape {
        Some(Shape::Simple(Type::Timestamp)) if text.contains(['T', 't']) => {
            convert_text("timestamp", &text.to_uppercase())
        }
        Some(Shape::Simple(Type::Timestamp)) => {
            convert_text("timestamp", &format!("{text}T00:00:00Z"))
        }
        Some(Shape::Simple(Type::Duration)) => convert_text("duration", text),
        Some(Shape::Simple(Type::Bytes)) => fakeserver_value::schema::decode_base64(text)
            .ok()
            .map(|bytes| Value::Bytes(bytes.into())),
        _ => None,
    };
    converted.unwrap_or_else(|| string(text))
}

fn from_number(number: &serde_json::Number, shape: Option<&Shape>) -> Value {
    let float = number.as_f64().unwrap_or_default();
    match shape {
        Some(Shape::Simple(Type::Double)) => Value::Float(float),
        Some(Shape::Simple(Type::Int)) if float.fract() == 0.0 => {
            let invalid = || invalid("invalid data, expected int, got float64");
            number.as_i64().map_or_else(invalid, Value::Int)
        }
        _ => number.as_i64().map_or(Value::Float(float), Value::Int),
    }
}
