//! Values of CEL: their JSON form, their types, equality and order.

use std::{cmp::Ordering, collections::BTreeMap, fmt, sync::Arc};

use jiff::{Timestamp, fmt::temporal::DateTimePrinter};
use kube_cel::cel::{
    Value,
    objects::{Key, Map, Opaque, OptionalValue},
};
use serde_json::{Number, Value as Json, json};

/// An object that an expression has constructed, such as `Object.spec{}` or `JSONPatch{}`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Constructed {
    pub(crate) type_name: String,
    pub(crate) fields: BTreeMap<String, Value>,
}

/// A type as a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TypeValue(pub(super) String);

// A field that is no number is equal to itself only, which those who compare objects do not rely on.
impl Eq for Constructed {}

impl Opaque for Constructed {
    fn runtime_type_name(&self) -> &str {
        &self.type_name
    }
}

impl Opaque for TypeValue {
    fn runtime_type_name(&self) -> &'static str {
        "type"
    }
}

/// Returns the value of a JSON document.
pub(crate) fn from_json(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(number), _) => Value::Int(number),
            (None, Some(number)) => Value::UInt(number),
            (None, None) => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Json::String(text) => string(text),
        Json::Array(items) => Value::List(Arc::new(items.iter().map(from_json).collect())),
        Json::Object(members) => map(members
            .iter()
            .map(|(name, value)| (Key::String(Arc::new(name.clone())), from_json(value)))),
    }
}

/// Returns the JSON form of a value. The error names what has none.
pub(crate) fn to_json(value: &Value) -> Result<Json, String> {
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
            let entries = map.map.iter().map(|(key, value)| match key {
                Key::String(name) => Ok((name.to_string(), to_json(value)?)),
                _ => Err("JSON has no keys other than texts".to_owned()),
            });
            Json::Object(entries.collect::<Result<_, String>>()?)
        }
        Value::Opaque(opaque) => {
            let Some(object) = opaque.downcast_ref::<Constructed>() else {
                return Err(format!(
                    "type '{}' has no JSON form",
                    opaque.runtime_type_name()
                ));
            };
            let fields = object.fields.iter();
            let fields = fields.map(|(name, value)| Ok((name.clone(), to_json(value)?)));
            Json::Object(fields.collect::<Result<_, String>>()?)
        }
        Value::Timestamp(time) => {
            json!(print_time(time.timestamp(), time.timestamp_subsec_nanos()))
        }
        Value::Duration(duration) => json!(print_duration(
            duration.num_nanoseconds().unwrap_or_default()
        )),
        Value::Function(..) => return Err("functions have no JSON form".to_owned()),
    })
}

/// Makes a text.
pub(super) fn string(text: &str) -> Value {
    Value::String(Arc::new(text.to_owned()))
}

/// Makes a map.
pub(super) fn map(entries: impl IntoIterator<Item = (Key, Value)>) -> Value {
    Value::Map(Map {
        map: Arc::new(entries.into_iter().collect()),
    })
}

/// Makes an optional value.
pub(super) fn optional(value: Option<Value>) -> Value {
    Value::Opaque(Arc::new(match value {
        Some(value) => OptionalValue::of(value),
        None => OptionalValue::none(),
    }))
}

/// Returns the content of an optional value; nothing if it is none.
#[expect(clippy::option_option, reason = "an optional value may be none")]
pub(super) fn as_optional(value: &Value) -> Option<Option<Value>> {
    let Value::Opaque(opaque) = value else {
        return None;
    };
    opaque
        .downcast_ref::<OptionalValue>()
        .map(|optional| optional.value().cloned())
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
pub(super) fn sorted(map: &Map) -> Vec<(Value, Value)> {
    let mut entries: Vec<(&Key, &Value)> = map.map.iter().collect();
    entries.sort_by_key(|(key, _)| *key);
    entries
        .into_iter()
        .map(|(key, value)| (of_key(key), value.clone()))
        .collect()
}

/// Returns the name of the type of a value.
pub(super) fn type_name(value: &Value) -> String {
    match value {
        Value::List(_) => "list",
        Value::Map(_) => "map",
        Value::Function(..) => "function",
        Value::Int(_) => "int",
        Value::UInt(_) => "uint",
        Value::Float(_) => "double",
        Value::String(_) => "string",
        Value::Bytes(_) => "bytes",
        Value::Bool(_) => "bool",
        Value::Duration(_) => "google.protobuf.Duration",
        Value::Timestamp(_) => "google.protobuf.Timestamp",
        Value::Null => "null_type",
        Value::Opaque(opaque) => opaque.runtime_type_name(),
    }
    .to_owned()
}

/// Returns whether two values are equal; numbers of different types may be.
pub(super) fn equals(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::List(a), Value::List(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| equals(a, b))
        }
        (Value::Map(a), Value::Map(b)) => {
            a.map.len() == b.map.len()
                && a.map
                    .iter()
                    .all(|(key, value)| b.map.get(key).is_some_and(|other| equals(value, other)))
        }
        (Value::Opaque(first), Value::Opaque(second)) => match (as_optional(a), as_optional(b)) {
            (Some(Some(a)), Some(Some(b))) => equals(&a, &b),
            (Some(a), Some(b)) => a.is_none() && b.is_none(),
            _ => first.opaque_eq(&**second),
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
        (Value::Int(a), Value::Int(b)) => a.cmp(b),
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
        (Value::Duration(a), Value::Duration(b)) => a.cmp(b),
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

/// Prints a time as Go prints it.
pub(super) fn print_time(seconds: i64, nanoseconds: u32) -> String {
    let time = Timestamp::new(seconds, nanoseconds.try_into().unwrap_or_default());
    time.map_or_else(
        |_| String::new(),
        |time| DateTimePrinter::new().timestamp_to_string(&time),
    )
}

/// Prints a duration in seconds, as CEL does.
pub(super) fn print_duration(nanoseconds: i64) -> String {
    let (whole, rest) = (
        nanoseconds / 1_000_000_000,
        (nanoseconds % 1_000_000_000).abs(),
    );
    if rest == 0 {
        return format!("{whole}s");
    }
    let sign = if nanoseconds < 0 && whole == 0 {
        "-"
    } else {
        ""
    };
    let fraction = format!("{rest:09}");
    format!("{sign}{whole}.{}s", fraction.trim_end_matches('0'))
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
    if !(-4.0..21.0).contains(&exponent) {
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

impl fmt::Display for Constructed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.type_name)
    }
}
