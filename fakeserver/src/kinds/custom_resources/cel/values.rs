//! Values of JSON as values of expressions, by the types that a schema gives them.

use std::{collections::BTreeMap, sync::Arc};

use kube_cel::cel::{
    Value,
    objects::{Key, Map, OptionalValue},
};
use serde_json::Value as Json;

use super::{
    evaluate::Library,
    schema_type::{SchemaType, Shape, escape},
    types::Type,
};

/// Returns the value that an expression sees of a value of JSON.
pub(super) fn from_json(json: &Json, ty: Option<&SchemaType>, library: &Library) -> Value {
    let shape = ty.map(|ty| &ty.shape);
    match (json, shape) {
        (Json::Null, _) => Value::Null,
        (Json::Bool(value), _) => Value::Bool(*value),
        (Json::Number(number), shape) => from_number(number, shape),
        (Json::String(text), Some(Shape::Simple(Type::Timestamp))) => {
            let time = if text.contains(['T', 't']) {
                text.to_uppercase()
            } else {
                format!("{text}T00:00:00Z")
            };
            library.convert("timestamp", &time)
        }
        (Json::String(text), Some(Shape::Simple(Type::Duration))) => {
            library.convert("duration", text)
        }
        (Json::String(text), Some(Shape::Simple(Type::Bytes))) => {
            let bytes = crate::value::schema::decode_base64(text);
            bytes.map_or_else(|_| from_text(text), |bytes| Value::Bytes(Arc::new(bytes)))
        }
        (Json::String(text), _) => from_text(text),
        (Json::Array(items), shape) => {
            let inner = match shape {
                Some(Shape::List(inner)) => Some(&**inner),
                _ => None,
            };
            let items = items.iter().map(|item| from_json(item, inner, library));
            Value::List(Arc::new(items.collect()))
        }
        (Json::Object(members), shape) => {
            let entries = members.iter().filter_map(|(name, value)| {
                let (name, inner) = match shape {
                    Some(Shape::Object(fields)) => {
                        let name = escape(name)?;
                        let inner = fields.get(&name).map(|field| &**field);
                        (name, inner)
                    }
                    Some(Shape::Map(inner)) => (name.clone(), Some(&**inner)),
                    _ => (name.clone(), None),
                };
                let key = Key::String(Arc::new(name));
                Some((key, from_json(value, inner, library)))
            });
            from_entries(entries.collect())
        }
    }
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

/// Returns a value that cannot be used: an error of the data. The crate's values have nothing else that could hold it.
fn invalid(why: &str) -> Value {
    Value::Function(Arc::new(why.to_owned()), None)
}

/// Returns the error of a value that cannot be used.
pub(super) fn error_of(value: &Value) -> Option<String> {
    match value {
        Value::Function(why, None) => Some(why.to_string()),
        _ => None,
    }
}

pub(super) fn from_text(text: &str) -> Value {
    Value::String(Arc::new(text.to_owned()))
}

/// The entries of a map.
pub(super) type Entries = BTreeMap<Key, Value>;

pub(super) fn from_entries(entries: Entries) -> Value {
    Value::Map(Map {
        map: Arc::new(entries.into_iter().collect()),
    })
}

/// Returns an optional value.
pub(super) fn optional(value: Option<Value>) -> Value {
    Value::Opaque(Arc::new(match value {
        Some(value) => OptionalValue::of(value),
        None => OptionalValue::none(),
    }))
}

/// Returns what an optional value holds; `None` if the value is not optional.
#[expect(
    clippy::option_option,
    reason = "an optional value may be absent, and a value may be none"
)]
pub(super) fn as_optional(value: &Value) -> Option<Option<&Value>> {
    let optional: Result<&OptionalValue, _> = value.try_into();
    optional.ok().map(OptionalValue::value)
}

/// Returns the key that a value is.
pub(super) fn as_key(value: &Value) -> Option<Key> {
    match value {
        Value::Int(number) => Some(Key::Int(*number)),
        Value::UInt(number) => Some(Key::Uint(*number)),
        Value::Bool(flag) => Some(Key::Bool(*flag)),
        Value::String(text) => Some(Key::String(Arc::clone(text))),
        _ => None,
    }
}

/// Returns the value that a key is.
pub(super) fn of_key(key: &Key) -> Value {
    match key {
        Key::Int(number) => Value::Int(*number),
        Key::Uint(number) => Value::UInt(*number),
        Key::Bool(flag) => Value::Bool(*flag),
        Key::String(text) => Value::String(Arc::clone(text)),
    }
}

/// Returns the number of characters, bytes, items or entries of a value; 1 if it has none.
pub(super) fn size(value: &Value) -> u64 {
    let size = match value {
        Value::String(text) => text.chars().count(),
        Value::Bytes(bytes) => bytes.len(),
        Value::List(items) => items.len(),
        Value::Map(map) => map.map.len(),
        _ => 1,
    };
    size as u64
}
