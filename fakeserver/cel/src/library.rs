//! Calls of functions, and conversions.
//!
//! Functions of addresses, networks, URLs, quantities, versions, formats and patterns are those of the crate `kube-cel`.
//! What it lacks, or does in another way than a real server, is here, and in the modules of lists, texts and times.

use std::sync::Arc;

use fakeserver_value::pattern::pattern_problem;
use kube_cel::{
    KubeCelExt,
    cel::{
        Context, ExecutionError, IdedExpr, Value,
        common::ast::{CallExpr, Expr},
    },
};
use regex::Regex;

use super::{
    ast::operators,
    authorizer, format,
    interpreter::{Evaluated, Failure},
    lists, misreadings, named_formats,
    operations::{self, no_operator, no_overload},
    texts, times,
    value::{
        as_double, as_list, as_optional, optional, plain, print_double, print_duration, print_time,
        size, string, type_name, type_value,
    },
};

thread_local! {
    /// The functions of the crate. They are not shared between threads.
    static CONTEXT: Context<'static> = Context::default().with_all();
}

/// Calls a function or an operator with evaluated operands, the target first if it is a method.
///
/// # Errors
///
/// The function fails, or does not take such operands.
pub(super) fn call(name: &str, is_member: bool, operands: &[Value]) -> Evaluated {
    if let Some(outcome) = operations::operator(name, operands)
        .or_else(|| own(name, operands))
        .or_else(|| lists::call(name, operands))
        .or_else(|| texts::call(name, operands))
        .or_else(|| times::call(name, operands))
        .or_else(|| named_formats::call(name, operands))
    {
        return outcome;
    }
    if let Some((target, arguments)) = operands.split_first().filter(|_| is_member)
        && let Some(outcome) = authorizer::call(name, target, arguments)
    {
        return outcome;
    }
    by_crate(name, is_member, operands)
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
fn own(name: &str, operands: &[Value]) -> Option<Evaluated> {
    Some(match (name, operands) {
        ("dyn", [value]) => Ok(value.clone()),
        ("type", [value]) => Ok(type_value(&type_name(value))),
        (_, [value]) if is_conversion(name) => convert(name, value)?,
        ("size", [value]) => match value {
            Value::String(_) | Value::Bytes(_) | Value::Map(_) => Ok(length(value)),
            value if as_list(value).is_some() => Ok(length(value)),
            _ => Err(no_operator(name, value)),
        },
        ("matches", [Value::String(text), Value::String(pattern)]) => match Regex::new(pattern) {
            Ok(pattern) => Ok(Value::Bool(pattern.is_match(text))),
            Err(error) => Err(Failure::error(pattern_problem(pattern, &error))),
        },
        ("matches", _) => Err(no_overload()),
        ("isIP", [Value::String(text)]) if misreadings::problem("ip", text).is_some() => {
            Ok(Value::Bool(false))
        }
        ("isCIDR", [Value::String(text)]) if misreadings::problem("cidr", text).is_some() => {
            Ok(Value::Bool(false))
        }
        ("ip" | "cidr", [Value::String(text)]) => {
            Err(Failure::Error(misreadings::problem(name, text)?))
        }
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
        Value::Duration(duration) => duration.is_zero(),
        other => {
            as_list(other).is_some_and(|items| items.is_empty())
                || as_optional(other).is_some_and(|content| content.is_none())
        }
    }
}

/// Converts between types of numbers, texts and times.
fn convert(name: &str, value: &Value) -> Option<Evaluated> {
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
        ("bool", Value::String(text)) => match text.as_str() {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(Value::Bool(true)),
            "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(Value::Bool(false)),
            _ => Err(failed()),
        },
        ("bytes", Value::String(text)) => Ok(Value::Bytes(Arc::new(text.as_bytes().to_vec()))),
        ("int", Value::UInt(number)) => i64::try_from(*number)
            .map(Value::Int)
            .map_err(|_| range("integer")),
        ("int", Value::Float(number)) => whole(*number)
            .map(Value::Int)
            .ok_or_else(|| range("integer")),
        ("int", Value::String(text)) => text.parse().map(Value::Int).map_err(|_| failed()),
        ("int", Value::Timestamp(time)) => Ok(Value::Int(time.timestamp())),
        ("int", Value::Duration(duration)) => {
            Ok(Value::Int(duration.num_nanoseconds().unwrap_or_default()))
        }
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
        ("timestamp", Value::Int(number)) => {
            let text = times::text_of(*number).ok_or_else(failed);
            text.and_then(|text| by_crate(name, false, &[string(&text)]).map_err(|_| failed()))
        }
        ("duration" | "timestamp", Value::String(_)) => {
            by_crate(name, false, std::slice::from_ref(value)).map_err(|_| failed())
        }
        ("string", _) => return to_text(value),
        _ => Err(no_form(name, std::slice::from_ref(value))),
    })
}

fn to_text(value: &Value) -> Option<Evaluated> {
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
        Value::Timestamp(time) => Ok(string(&print_time(
            (time.timestamp(), time.timestamp_subsec_nanos()),
            time.offset().local_minus_utc(),
        ))),
        Value::Duration(duration) => Ok(string(&print_duration(
            duration.num_nanoseconds().unwrap_or_default(),
        ))),
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

/// Calls a function of the crate.
pub(super) fn by_crate(name: &str, is_member: bool, operands: &[Value]) -> Evaluated {
    CONTEXT.with(|context| {
        let mut scope = context.new_inner_scope();
        let mut names = Vec::with_capacity(operands.len());
        for (index, operand) in operands.iter().enumerate() {
            let name = format!("@{index}");
            scope.add_variable_from_value(name.clone(), plain(operand));
            names.push(IdedExpr {
                id: 0,
                expr: Expr::Ident(name),
            });
        }
        let target = is_member.then(|| Box::new(names.remove(0)));
        let call = CallExpr {
            func_name: name.to_owned(),
            target,
            args: names,
        };
        let expr = IdedExpr {
            id: 0,
            expr: Expr::Call(call),
        };
        Value::resolve(&expr, &scope).map_err(|error| match error {
            ExecutionError::FunctionError { message, .. } => Failure::Error(match operands {
                [Value::String(text), ..] => misreadings::problem(name, text).unwrap_or(message),
                _ if name == "asInteger" => "cannot convert value to integer".to_owned(),
                _ => message,
            }),
            _ => no_form(name, operands),
        })
    })
}

/// Converts a text to the type that a function names, if it has its form.
pub fn convert_text(function: &str, text: &str) -> Option<Value> {
    let text = string(text);
    let converted = convert(function, &text).and_then(Result::ok);
    converted.or_else(|| by_crate(function, false, &[text]).ok())
}
