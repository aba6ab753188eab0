//! Values of expressions: their JSON form, their types, equality and order.

use std::{any::Any, cmp::Ordering, collections::BTreeMap, fmt, sync::Arc};

use serde_json::{Number, Value as Json, json};

use super::{durations::print_duration, timestamp::Timestamp};

/// A value of an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    Int(i64),
    UInt(u64),
    Float(f64),
    String(Arc<str>),
    Bytes(Arc<[u8]>),
    List(Arc<Vec<Value>>),
    Map(Arc<BTreeMap<Key, Value>>),
    /// In nanoseconds.
    Duration(i64),
    Timestamp(Timestamp),
    /// A value of a type that only some functions know.
    Opaque(Arc<dyn Opaque>),
}

/// A key of a map. A whole number is an [`Int`](Self::Int) if it fits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    Int(i64),
    Uint(u64),
    Bool(bool),
    String(Arc<str>),
}

/// A value of a type that only some functions know.
pub trait Opaque: Any + fmt::Debug + OpaqueEq + Send + Sync {
    /// Returns the name of the type.
    fn type_name(&self) -> &str;
}

/// Equality of opaque values, whatever their types.
pub trait OpaqueEq {
    fn is_equal(&self, other: &dyn Opaque) -> bool;
}

/// An object that an expression has constructed, such as `Object.spec{}` or `JSONPatch{}`.
#[derive(Clone, Debug, PartialEq)]
pub struct ConstructedObject {
    pub type_name: String,
    pub fields: BTreeMap<String, Value>,
}

/// A list of the type `set` or `map`, which is equal to others in any order.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Associative {
    items: Arc<Vec<Value>>,
    /// The fields that identify an item; none for a set.
    keys: Arc<Vec<Key>>,
}

/// A value that may be none.
#[derive(Clone, Debug, PartialEq)]
struct OptionalValue(Option<Value>);

/// A type as a value.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TypeValue(String);

/// A value that does not fit its schema: an expression that reads the value fails with the error.
#[derive(Clone, Debug, PartialEq, Eq)]
struct InvalidValue(String);

impl<T: Opaque + PartialEq> OpaqueEq for T {
    fn is_equal(&self, other: &dyn Opaque) -> bool {
        other.downcast_ref::<T>().is_some_and(|other| self == other)
    }
}

impl dyn Opaque {
    /// Returns the value as one of a type.
    pub(super) fn downcast_ref<T: Any>(&self) -> Option<&T> {
        (self as &dyn Any).downcast_ref()
    }
}

impl PartialEq for dyn Opaque {
    fn eq(&self, other: &Self) -> bool {
        self.is_equal(other)
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(number) => number.fmt(f),
            Self::Uint(number) => number.fmt(f),
            Self::Bool(value) => value.fmt(f),
            Self::String(text) => text.fmt(f),
        }
    }
}

impl Opaque for ConstructedObject {
    fn type_name(&self) -> &str {
        &self.type_name
    }
}

impl Opaque for Associative {
    fn type_name(&self) -> &'static str {
        "list"
    }
}

impl Opaque for OptionalValue {
    fn type_name(&self) -> &'static str {
        "optional_type"
    }
}

impl Opaque for TypeValue {
    fn type_name(&self) -> &'static str {
        "type"
    }
}

impl Opaque for InvalidValue {
    fn type_name(&self) -> &'static str {
        "error"
    }
}

// === impl Associative ===

impl Associative {
    /// Returns the item that stands for `item`.
    fn position(&self, items: &[Value], item: &Value) -> Option<usize> {
        if self.keys.is_empty() {
            return items.iter().position(|own| equals(own, item));
        }
        let key = |of: &Value, key: &Key| match of {
            Value::Map(map) => map.get(key).cloned(),
            _ => None,
        };
        items.iter().position(|own| {
            self.keys
                .iter()
                .all(|name| match (key(own, name), key(item, name)) {
                    (Some(a), Some(b)) => equals(&a, &b),
                    (a, b) => a.is_none() && b.is_none(),
                })
        })
    }

    fn equals(&self, other: &[Value]) -> bool {
        self.items.len() == other.len()
            && other.iter().all(|item| {
                let found = self.position(&self.items, item);
                found.is_some_and(|at| equals(&self.items[at], item))
            })
    }

    /// Returns the list with the items of another one, which replace those that they stand for.
    fn merged(&self, other: &[Value]) -> Value {
        let mut items = self.items.to_vec();
        for item in other {
            match self.position(&items, item) {
                Some(at) => items[at] = item.clone(),
                None => items.push(item.clone()),
            }
        }
        Value::Opaque(Arc::new(Self {
            items: Arc::new(items),
            keys: Arc::clone(&self.keys),
        }))
    }
}

/// Makes a list of the type `set`, or of the type `map` if it has `keys`.
pub fn associative(items: Vec<Value>, keys: &[String]) -> Value {
    let keys = keys.iter().map(|key| Key::String(key.as_str().into()));
    Value::Opaque(Arc::new(Associative {
        items: Arc::new(items),
        keys: Arc::new(keys.collect()),
    }))
}

/// Returns the value as an opaque one of a type.
pub(super) fn downcast<T: Any>(value: &Value) -> Option<&T> {
    match value {
        Value::Opaque(opaque) => opaque.downcast_ref(),
        _ => None,
    }
}

/// Returns the items of a list.
pub(super) fn as_list(value: &Value) -> Option<&Arc<Vec<Value>>> {
    match value {
        Value::List(items) => Some(items),
        other => downcast::<Associative>(other).map(|list| &list.items),
    }
}

/// Returns a list with the items of another one.
pub(super) fn concatenated(a: &Value, b: &Value) -> Option<Value> {
    let (own, other) = (as_list(a)?, as_list(b)?);
    Some(match downcast::<Associative>(a) {
        Some(list) => list.merged(other),
        None => list(own.iter().chain(other.iter()).cloned()),
    })
}

/// Makes a value that does not fit its schema.
pub fn invalid(why: &str) -> Value {
    Value::Opaque(Arc::new(InvalidValue(why.to_owned())))
}

/// Returns the error of a value that does not fit its schema.
pub(super) fn error_of(value: &Value) -> Option<&str> {
    downcast::<InvalidValue>(value).map(|invalid| invalid.0.as_str())
}

/// Makes the value that is a type.
pub(super) fn type_value(name: &str) -> Value {
    Value::Opaque(Arc::new(TypeValue(name.to_owned())))
}

/// Returns the name of the type that a value is.
pub(super) fn as_type(value: &Value) -> Option<&str> {
    downcast::<TypeValue>(value).map(|of| of.0.as_str())
}

/// Returns the object that a value is.
pub fn as_constructed(value: &Value) -> Option<&ConstructedObject> {
    downcast(value)
}

/// Returns the value of a JSON document.
pub fn from_json(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => number.as_i64().map_or_else(
            || Value::Float(number.as_f64().unwrap_or(f64::NAN)),
            Value::Int,
        ),
        Json::String(text) => string(text),
        Json::Array(items) => list(items.iter().map(from_json)),
        Json::Object(members) => map(members
            .iter()
            .map(|(name, value)| (Key::String(name.as_str().into()), from_json(value)))),
    }
}

/// Returns the JSON form of a value. The error names the type without one.
pub fn to_json(value: &Value) -> Result<Json, String> {
    Ok(match value {
        Value::Null => Json::Null,
        Value::Bool(value) => json!(value),
        Value::Int(number) => json!(number),
        Value::UInt(number) => json!(number),
        Value::Float(number) if number.fract() == 0.0 && number.abs() < 1e15 => {
            // A whole number is printed without a fraction.
            format!("{number:.0}")
                .parse::<i64>()
                .map_or(Json::Null, |number| json!(number))
        }
        Value::Float(number) => Number::from_f64(*number).map_or(Json::Null, Json::Number),
        Value::String(text) => json!(**text),
        Value::Bytes(bytes) => json!(base64(bytes)),
        Value::List(items) => Json::Array(items.iter().map(to_json).collect::<Result<_, _>>()?),
        Value::Map(map) => {
            let entries = map.iter().map(|(key, value)| match key {
                Key::String(name) => Ok((name.to_string(), to_json(value)?)),
                _ => Err("JSON has no keys other than texts".to_owned()),
            });
            Json::Object(entries.collect::<Result<_, String>>()?)
        }
        Value::Opaque(opaque) => {
            if let Some(items) = as_list(value) {
                return items.iter().map(to_json).collect();
            }
            if let Some(Some(content)) = as_optional(value) {
                return to_json(content);
            }
            let Some(object) = as_constructed(value) else {
                return Err(format!("type '{}' has no JSON form", opaque.type_name()));
            };
            let fields = object.fields.iter();
            let fields = fields.map(|(name, value)| Ok((name.clone(), to_json(value)?)));
            Json::Object(fields.collect::<Result<_, String>>()?)
        }
        Value::Timestamp(time) => json!(time.to_string()),
        Value::Duration(duration) => json!(print_duration(*duration)),
    })
}

/// Makes a list.
pub(super) fn list(items: impl IntoIterator<Item = Value>) -> Value {
    Value::List(Arc::new(items.into_iter().collect()))
}

/// Makes a text.
pub fn string(text: &str) -> Value {
    Value::String(text.into())
}

/// Makes a map.
pub fn map(entries: impl IntoIterator<Item = (Key, Value)>) -> Value {
    Value::Map(Arc::new(entries.into_iter().collect()))
}

/// Makes an optional value.
pub fn optional(value: Option<Value>) -> Value {
    Value::Opaque(Arc::new(OptionalValue(value)))
}

/// Returns the content of an optional value; `None` if the value is not optional.
#[expect(clippy::option_option, reason = "an optional value may be none")]
pub(super) fn as_optional(value: &Value) -> Option<Option<&Value>> {
    downcast::<OptionalValue>(value).map(|optional| optional.0.as_ref())
}

/// Returns the key that a value is, if it may be one.
pub(super) fn as_key(value: &Value) -> Option<Key> {
    Some(match value {
        Value::Int(number) => Key::Int(*number),
        Value::UInt(number) => match i64::try_from(*number) {
            Ok(number) => Key::Int(number),
            Err(_) => Key::Uint(*number),
        },
        Value::Float(number) if number.fract() == 0.0 => {
            Key::Int(format!("{number:.0}").parse().ok()?)
        }
        Value::Bool(value) => Key::Bool(*value),
        Value::String(text) => Key::String(Arc::clone(text)),
        _ => return None,
    })
}

/// Returns the value that a key is.
pub(super) fn of_key(key: &Key) -> Value {
    match key {
        Key::Int(number) => Value::Int(*number),
        Key::Uint(number) => Value::UInt(*number),
        Key::Bool(value) => Value::Bool(*value),
        Key::String(text) => Value::String(Arc::clone(text)),
    }
}

/// Returns the entries of a map in the order of their keys.
pub(super) fn sorted(map: &BTreeMap<Key, Value>) -> Vec<(Value, Value)> {
    let entries = map.iter();
    entries
        .map(|(key, value)| (of_key(key), value.clone()))
        .collect()
}

/// Returns the name of the type of a value.
pub(super) fn type_name(value: &Value) -> String {
    match value {
        Value::List(_) => "list",
        Value::Map(_) => "map",
        Value::Int(_) => "int",
        Value::UInt(_) => "uint",
        Value::Float(_) => "double",
        Value::String(_) => "string",
        Value::Bytes(_) => "bytes",
        Value::Bool(_) => "bool",
        Value::Duration(_) => "google.protobuf.Duration",
        Value::Timestamp(_) => "google.protobuf.Timestamp",
        Value::Null => "null_type",
        Value::Opaque(opaque) => opaque.type_name(),
    }
    .to_owned()
}

/// Returns whether two values are equal; numbers of different types may be.
pub(super) fn equals(a: &Value, b: &Value) -> bool {
    if let (Some(own), Some(other)) = (as_list(a), as_list(b)) {
        return match downcast::<Associative>(a) {
            Some(list) => list.equals(other),
            None => {
                own.len() == other.len() && own.iter().zip(other.iter()).all(|(a, b)| equals(a, b))
            }
        };
    }
    match (a, b) {
        (Value::Map(a), Value::Map(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(key, value)| b.get(key).is_some_and(|other| equals(value, other)))
        }
        (Value::Opaque(first), Value::Opaque(second)) => match (as_optional(a), as_optional(b)) {
            (Some(Some(a)), Some(Some(b))) => equals(a, b),
            (Some(a), Some(b)) => a.is_none() && b.is_none(),
            _ => first == second,
        },
        _ if is_number(a) && is_number(b) => compare(a, b) == Some(Ordering::Equal),
        _ if type_name(a) != type_name(b) => false,
        _ => compare(a, b).map_or_else(|| a == b, |order| order == Ordering::Equal),
    }
}

fn is_number(value: &Value) -> bool {
    matches!(value, Value::Int(_) | Value::UInt(_) | Value::Float(_))
}

/// Returns the order of two values, if they have one.
pub(super) fn compare(a: &Value, b: &Value) -> Option<Ordering> {
    Some(match (a, b) {
        (Value::Int(a), Value::Int(b)) | (Value::Duration(a), Value::Duration(b)) => a.cmp(b),
        (Value::UInt(a), Value::UInt(b)) => a.cmp(b),
        (Value::Int(a), Value::UInt(b)) => i128::from(*a).cmp(&i128::from(*b)),
        (Value::UInt(a), Value::Int(b)) => i128::from(*a).cmp(&i128::from(*b)),
        (Value::Float(a), Value::Float(b)) => a.partial_cmp(b)?,
        (Value::Float(a), Value::Int(_) | Value::UInt(_)) => a.partial_cmp(&as_double(b)?)?,
        (Value::Int(_) | Value::UInt(_), Value::Float(b)) => as_double(a)?.partial_cmp(b)?,
        (Value::String(a), Value::String(b)) => a.cmp(b),
        (Value::Bytes(a), Value::Bytes(b)) => a.cmp(b),
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::Timestamp(a), Value::Timestamp(b)) => a.cmp(b),
        (Value::Null, Value::Null) => Ordering::Equal,
        _ => return None,
    })
}

#[expect(
    clippy::cast_precision_loss,
    reason = "that is what the conversion of CEL does"
)]
pub(super) fn as_double(value: &Value) -> Option<f64> {
    Some(match value {
        Value::Int(number) => *number as f64,
        Value::UInt(number) => *number as f64,
        Value::Float(number) => *number,
        _ => return None,
    })
}

/// Returns the number of characters, bytes, items or entries of a value; 1 if it has none.
pub(super) fn size(value: &Value) -> u64 {
    let count = match value {
        Value::String(text) => text.chars().count(),
        Value::Bytes(bytes) => bytes.len(),
        Value::Map(map) => map.len(),
        other => as_list(other).map_or(1, |items| items.len()),
    };
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// Prints a floating-point number as Go prints it in its shortest form.
pub(super) fn print_double(number: f64) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    let exponent = if number == 0.0 {
        0.0
    } else {
        number.abs().log10().floor()
    };
    if !(-4.0..6.0).contains(&exponent) {
        let printed = format!("{number:e}");
        let (mantissa, exponent) = printed.split_once('e').unwrap_or((&printed, "0"));
        let (sign, digits) = match exponent.strip_prefix('-') {
            Some(digits) => ('-', digits),
            None => ('+', exponent),
        };
        return format!("{mantissa}e{sign}{digits:0>2}");
    }
    format!("{number}")
}

fn base64(bytes: &[u8]) -> String {
    use base64::{Engine, engine::general_purpose::STANDARD};
    STANDARD.encode(bytes)
}

/// Prints a value as Go prints it within errors.
pub(super) fn printed(value: &Value) -> String {
    match value {
        Value::String(text) => text.to_string(),
        Value::Int(number) => number.to_string(),
        Value::UInt(number) => number.to_string(),
        Value::Float(number) => print_double(*number),
        Value::Bool(value) => value.to_string(),
        other => type_name(other),
    }
}
