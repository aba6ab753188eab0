//! Calls of functions, and conversions.

use fakeserver_value::go_duration::parse_duration;

use super::{
    addresses,
    ast::operators,
    authorizer,
    durations::print_duration,
    format,
    interpreter::{EvaluationResult, Failure},
    lists, named_formats,
    operations::{self, no_operator},
    patterns, quantities, texts, times,
    timestamp::{Timestamp, TimestampError},
    urls,
    value::{
        Value, as_double, as_list, as_optional, optional, print_double, size, string, type_name,
        type_value,
    },
    versions,
};

/// Calls a function, if it knows one for such operands.
type Library = fn(&str, &[Value]) -> Option<EvaluationResult>;

/// The function libraries, by topic.
const LIBRARIES: [Library; 11] = [
    operations::operator,
    own,
    lists::call,
    texts::call,
    times::call,
    patterns::call,
    addresses::call,
    urls::call,
    quantities::call,
    versions::call,
    named_formats::call,
];

/// Calls a function or an operator with evaluated operands, the target first if it is a method.
///
/// # Errors
///
/// The function fails, or does not take such operands.
pub(super) fn call(name: &str, is_member: bool, operands: &[Value]) -> EvaluationResult {
    let outcome = LIBRARIES.iter().find_map(|call| call(name, operands));
    let of_authorizer = || {
        let (target, arguments) = operands.split_first().filter(|_| is_member)?;
        authorizer::call(name, target, arguments)
    };
    let outcome = outcome.or_else(of_authorizer);
    outcome.unwrap_or_else(|| Err(no_form(name, operands)))
}

/// Returns whether `name` converts its operand to another type.
pub(super) fn is_conversion(name: &str) -> bool {
    matches!(
        name,
        "bool"
            | "bytes"
            | "double"
            | "duration"
            | "dyn"
            | "int"
            | "string"
            | "timestamp"
            | "type"
            | "uint"
    )
}

/// Calls a function that is defined here, if `name` is one of them for such operands.
fn own(name: &str, operands: &[Value]) -> Option<EvaluationResult> {
    Some(match (name, operands) {
        ("dyn", [value]) => Ok(value.clone()),
        ("type", [value]) => Ok(type_value(&type_name(value))),
        (_, [value]) if is_conversion(name) => convert(name, value)?,
        ("size", [value]) => match value {
            Value::String(_) | Value::Bytes(_) | Value::Map(_) => Ok(length(value)),
            value if as_list(value).is_some() => Ok(length(value)),
            _ => Err(no_operator(name, value)),
        },
        ("sort" | operators::SORT_BY, [value, ..]) if as_list(value).is_none() => {
            Err(no_operator(name, value))
        }
        ("optional.none", []) => Ok(optional(None)),
        ("optional.of", [value]) => Ok(optional(Some(value.clone()))),
        ("optional.ofNonZeroValue", [value]) => {
            Ok(optional(Some(value.clone()).filter(|_| !is_zero(value))))
        }
        ("hasValue", [value]) => Ok(Value::Bool(as_optional(value)?.is_some())),
        ("value", [value]) => {
            let none = || Failure::error("optional.none() dereference");
            as_optional(value)?.cloned().ok_or_else(none)
        }
        ("format", [Value::String(text), arguments]) => {
            format::format(text, as_list(arguments)?).map(|text| string(&text))
        }
        _ => return None,
    })
}

fn length(value: &Value) -> Value {
    Value::Int(i64::try_from(size(value)).unwrap_or(i64::MAX))
}

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Int(number) => *number == 0,
        Value::UInt(number) => *number == 0,
        Value::Float(number) => *number == 0.0,
        Value::String(_) | Value::Bytes(_) | Value::Map(_) => size(value) == 0,
        Value::Duration(duration) => *duration == 0,
        other => {
            as_list(other).is_some_and(|items| items.is_empty())
                || as_optional(other).is_some_and(|content| content.is_none())
        }
    }
}

/// Converts between types of numbers, texts and times.
fn convert(name: &str, value: &Value) -> Option<EvaluationResult> {
    let failed = || {
        let to = match name {
            "duration" => "google.protobuf.Duration",
            "timestamp" => "google.protobuf.Timestamp",
            name => name,
        };
        let from = type_name(value);
        Failure::error(format!("type conversion error from '{from}' to '{to}'"))
    };
    let range = |what: &str| Failure::error(format!("{what} overflow"));
    Some(match (name, value) {
        ("bool", Value::Bool(_))
        | ("bytes", Value::Bytes(_))
        | ("int", Value::Int(_))
        | ("uint", Value::UInt(_))
        | ("double", Value::Float(_))
        | ("string", Value::String(_))
        | ("duration", Value::Duration(_))
        | ("timestamp", Value::Timestamp(_)) => Ok(value.clone()),
        ("bool", Value::String(text)) => match &**text {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(Value::Bool(true)),
            "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(Value::Bool(false)),
            _ => Err(failed()),
        },
        ("bytes", Value::String(text)) => Ok(Value::Bytes(text.as_bytes().into())),
        ("int", Value::UInt(number)) => i64::try_from(*number)
            .map(Value::Int)
            .map_err(|_| range("integer")),
        ("int", Value::Float(number)) => whole(*number)
            .map(Value::Int)
            .ok_or_else(|| range("integer")),
        ("int", Value::String(text)) => text.parse().map(Value::Int).map_err(|_| failed()),
        ("int", Value::Timestamp(time)) => Ok(Value::Int(time.seconds())),
        ("int", Value::Duration(duration)) => Ok(Value::Int(*duration)),
        ("uint", Value::Int(number)) => u64::try_from(*number)
            .map(Value::UInt)
            .map_err(|_| range("unsigned integer")),
        ("uint", Value::Float(number)) => whole(*number)
            .and_then(|number| u64::try_from(number).ok())
            .map(Value::UInt)
            .ok_or_else(|| range("unsigned integer")),
        ("uint", Value::String(text)) => text.parse().map(Value::UInt).map_err(|_| failed()),
        ("double", Value::String(text)) => text.parse().map(Value::Float).map_err(|_| failed()),
        ("double", _) if as_double(value).is_some() => {
            as_double(value).map(Value::Float).ok_or_else(failed)
        }
        ("duration", Value::Int(_)) => Err(failed()),
        ("duration", Value::String(text)) => parse_duration(text)
            .map(Value::Duration)
            .map_err(|_| failed()),
        ("timestamp", Value::Int(number)) => Timestamp::from_seconds(*number)
            .map(Value::Timestamp)
            .ok_or_else(|| range("timestamp")),
        ("timestamp", Value::String(text)) => {
            Timestamp::parse(text)
                .map(Value::Timestamp)
                .map_err(|error| match error {
                    TimestampError::Form => failed(),
                    TimestampError::Range => range("timestamp"),
                })
        }
        ("string", _) => return to_text(value),
        _ => Err(no_form(name, std::slice::from_ref(value))),
    })
}

fn to_text(value: &Value) -> Option<EvaluationResult> {
    Some(match value {
        Value::Bool(value) => Ok(string(&value.to_string())),
        Value::Int(number) => Ok(string(&number.to_string())),
        Value::UInt(number) => Ok(string(&number.to_string())),
        Value::Float(number) => Ok(string(&print_double(*number))),
        Value::Bytes(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Ok(string(text)),
            Err(_) => Err(Failure::error(
                "invalid UTF-8 in bytes, cannot convert to string",
            )),
        },
        Value::Timestamp(time) => Ok(string(&time.to_string())),
        Value::Duration(duration) => Ok(string(&print_duration(*duration))),
        Value::Opaque(_) => return None,
        other => Err(no_form("string", std::slice::from_ref(other))),
    })
}

#[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
fn whole(number: f64) -> Option<i64> {
    const MAX: f64 = 9_223_372_036_854_775_807.0;
    (number > -MAX && number < MAX).then_some(number as i64)
}

/// Returns the error of a function that has no form for such operands.
pub(super) fn no_form(name: &str, operands: &[Value]) -> Failure {
    let types: Vec<String> = operands.iter().map(type_name).collect();
    Failure::error(format!("no such overload: {name}({})", types.join(", ")))
}

/// Converts a text to the type that a function names, if it has its form.
pub fn convert_text(function: &str, text: &str) -> Option<Value> {
    call(function, false, &[string(text)]).ok()
}
