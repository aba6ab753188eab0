//! Functions of the libraries: those of CEL and Kubernetes, by the crate `kube-cel`.
//!
//! What the crate lacks is here: `bool`, `dyn` and `type`; conversions of numbers that do not fit; sizes of texts in
//! characters; optional values; patterns that are not anchored.

use std::sync::Arc;

use kube_cel::{
    KubeCelExt,
    cel::{
        Context, ExecutionError, IdedExpr, Value,
        common::ast::{CallExpr, Expr},
    },
};
use regex::Regex;

use super::{
    interpreter::Failure,
    value::{
        TypeValue, as_double, as_optional, optional, print_double, print_duration, print_time,
        string, type_name,
    },
};

thread_local! {
    /// The functions of the crate. They are not shared between threads.
    static CONTEXT: Context<'static> = Context::default().with_all();
}

type Outcome = Result<Value, Failure>;

/// Calls a function with evaluated arguments.
///
/// # Errors
///
/// The function fails, or does not take such arguments.
pub(super) fn call(name: &str, target: Option<&Value>, args: &[Value]) -> Outcome {
    let first = target.or(args.first());
    if let Some(outcome) = first.and_then(|first| own(name, target, first, args)) {
        return outcome;
    }
    if name == "optional.none" {
        return Ok(optional(None));
    }
    by_crate(name, target, args)
}

/// Calls a function that is defined here, if `name` is one of them for such a value.
fn own(name: &str, target: Option<&Value>, first: &Value, args: &[Value]) -> Option<Outcome> {
    if target.is_none() && args.len() == 1 {
        let converted = match name {
            "dyn" | "optional.of" => Some(Ok(first.clone())),
            "type" => Some(Ok(Value::Opaque(Arc::new(TypeValue(type_name(first)))))),
            "bool" | "int" | "uint" | "double" | "string" => convert(name, first),
            _ => None,
        };
        match (name, converted) {
            ("optional.of", Some(Ok(value))) => return Some(Ok(optional(Some(value)))),
            (_, Some(converted)) => return Some(converted),
            _ => {}
        }
    }
    if name == "optional.ofNonZeroValue" {
        let is_zero = is_zero(first);
        return Some(Ok(optional((!is_zero).then(|| first.clone()))));
    }
    if let Some(content) = target.and_then(as_optional) {
        return of_optional(name, content, args);
    }
    match (name, first, args) {
        ("size", Value::String(text), _) => Some(Ok(int(text.chars().count()))),
        ("matches", Value::String(text), _) => {
            let Some(Value::String(pattern)) = args.last() else {
                return None;
            };
            Some(match Regex::new(pattern) {
                Ok(pattern) => Ok(Value::Bool(pattern.is_match(text))),
                Err(error) => Err(Failure::Error(error.to_string())),
            })
        }
        _ => None,
    }
}

fn of_optional(name: &str, content: Option<Value>, args: &[Value]) -> Option<Outcome> {
    let other = || args.first().cloned().unwrap_or(Value::Null);
    Some(Ok(match name {
        "hasValue" => Value::Bool(content.is_some()),
        "value" => match content {
            Some(value) => value,
            None => {
                return Some(Err(Failure::Error(
                    "optional.none() dereference".to_owned(),
                )));
            }
        },
        "orValue" => content.unwrap_or_else(other),
        "or" => match content {
            Some(value) => optional(Some(value)),
            None => other(),
        },
        _ => return None,
    }))
}

fn is_zero(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => !value,
        Value::Int(number) => *number == 0,
        Value::UInt(number) => *number == 0,
        Value::Float(number) => *number == 0.0,
        Value::String(text) => text.is_empty(),
        Value::Bytes(bytes) => bytes.is_empty(),
        Value::List(items) => items.is_empty(),
        Value::Map(map) => map.map.is_empty(),
        _ => false,
    }
}

/// Converts between types of numbers and texts.
fn convert(name: &str, value: &Value) -> Option<Outcome> {
    let failed = || {
        Failure::Error(format!(
            "type conversion error from '{}' to '{name}'",
            type_name(value)
        ))
    };
    let range = |what: &str| Failure::Error(format!("{what} overflow"));
    let outcome = match (name, value) {
        ("bool", Value::Bool(_))
        | ("int", Value::Int(_))
        | ("uint", Value::UInt(_))
        | ("double", Value::Float(_))
        | ("string", Value::String(_)) => Ok(value.clone()),
        ("bool", Value::String(text)) => match text.as_str() {
            "1" | "t" | "T" | "true" | "TRUE" | "True" => Ok(Value::Bool(true)),
            "0" | "f" | "F" | "false" | "FALSE" | "False" => Ok(Value::Bool(false)),
            _ => Err(failed()),
        },
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
        ("double", _) => as_double(value).map(Value::Float).ok_or_else(failed),
        ("string", Value::Bool(value)) => Ok(string(&value.to_string())),
        ("string", Value::Int(number)) => Ok(string(&number.to_string())),
        ("string", Value::UInt(number)) => Ok(string(&number.to_string())),
        ("string", Value::Float(number)) => Ok(string(&print_double(*number))),
        ("string", Value::Bytes(bytes)) => match std::str::from_utf8(bytes) {
            Ok(text) => Ok(string(text)),
            Err(_) => Err(Failure::Error(
                "invalid UTF-8 in bytes, cannot convert to string".to_owned(),
            )),
        },
        ("string", Value::Timestamp(time)) => Ok(string(&print_time(
            time.timestamp(),
            time.timestamp_subsec_nanos(),
        ))),
        ("string", Value::Duration(duration)) => Ok(string(&print_duration(
            duration.num_nanoseconds().unwrap_or_default(),
        ))),
        ("string", Value::Opaque(_)) => return None,
        _ => Err(no_such_overload(name, &[value])),
    };
    Some(outcome)
}

#[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
fn whole(number: f64) -> Option<i64> {
    const MAX: f64 = 9_223_372_036_854_775_807.0;
    (number > -MAX && number < MAX).then_some(number as i64)
}

fn int(count: usize) -> Value {
    Value::Int(i64::try_from(count).unwrap_or(i64::MAX))
}

/// Returns the error of a function that does not take such arguments.
pub(super) fn no_such_overload(name: &str, args: &[&Value]) -> Failure {
    let types: Vec<String> = args.iter().map(|arg| type_name(arg)).collect();
    Failure::Error(format!("no such overload: {name}({})", types.join(", ")))
}

fn by_crate(name: &str, target: Option<&Value>, args: &[Value]) -> Outcome {
    CONTEXT.with(|context| {
        let mut scope = context.new_inner_scope();
        let mut bound = |name: String, value: &Value| {
            scope.add_variable_from_value(name.clone(), value.clone());
            IdedExpr {
                id: 0,
                expr: Expr::Ident(name),
            }
        };
        let call = CallExpr {
            func_name: name.to_owned(),
            target: target.map(|target| Box::new(bound("@target".to_owned(), target))),
            args: args
                .iter()
                .enumerate()
                .map(|(index, arg)| bound(format!("@{index}"), arg))
                .collect(),
        };
        let expr = IdedExpr {
            id: 0,
            expr: Expr::Call(call),
        };
        Value::resolve(&expr, &scope).map_err(|error| {
            if let ExecutionError::FunctionError { message, .. } = error {
                return Failure::Error(message);
            }
            let all: Vec<&Value> = target.into_iter().chain(args).collect();
            no_such_overload(name, &all)
        })
    })
}
