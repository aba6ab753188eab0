//! Operators on values.

use std::cmp::Ordering;

use super::{
    ast::operators,
    interpreter::{EvaluationResult, Failure},
    lists::contains,
    timestamp::Timestamp,
    value::{Value, as_key, as_list, compare, concatenated, equals, string},
};

/// Applies an operator, if `name` is one.
pub(super) fn operator(name: &str, operands: &[Value]) -> Option<EvaluationResult> {
    Some(match (name, operands) {
        (operators::EQUALS, [a, b]) => Ok(Value::Bool(equals(a, b))),
        (operators::NOT_EQUALS, [a, b]) => Ok(Value::Bool(!equals(a, b))),
        ("_<_" | "_<=_" | "_>_" | "_>=_", [a, b]) => ordered(name, a, b),
        (operators::ADD | "_-_" | "_*_" | "_/_" | "_%_", [a, b]) => arithmetic(name, a, b),
        (operators::NOT, [Value::Bool(value)]) => Ok(Value::Bool(!value)),
        (operators::NOT, [_]) | (operators::NEGATE, [Value::Bool(_)]) => Err(no_overload()),
        (operators::NEGATE, [Value::Int(number)]) => number
            .checked_neg()
            .map(Value::Int)
            .ok_or_else(|| overflow("integer")),
        (operators::NEGATE, [Value::Duration(duration)]) => duration
            .checked_neg()
            .map(Value::Duration)
            .ok_or_else(|| overflow("integer")),
        (operators::NEGATE, [Value::Float(number)]) => Ok(Value::Float(-number)),
        (operators::NEGATE, [operand]) => Err(no_operator(name, operand)),
        (operators::IN, [item, container]) => is_in(item, container),
        _ => return None,
    })
}

/// Returns the error of an operator that does not take such operands.
pub(super) fn no_overload() -> Failure {
    Failure::error("no such overload")
}

/// Returns the error of an operator or a function that the first operand does not have.
pub(super) fn no_operator(name: &str, operand: &Value) -> Failure {
    match operand {
        // Values of these types have methods, so that cel-go reports a missing overload.
        Value::String(_) | Value::Duration(_) | Value::Timestamp(_) => no_overload(),
        _ => Failure::error(format!("no such overload: {name}")),
    }
}

fn overflow(what: &str) -> Failure {
    Failure::error(format!("{what} overflow"))
}

fn ordered(name: &str, a: &Value, b: &Value) -> EvaluationResult {
    if matches!(a, Value::Null | Value::Map(_) | Value::Opaque(_)) || as_list(a).is_some() {
        return Err(no_operator(name, a));
    }
    let order = compare(a, b).ok_or_else(no_overload)?;
    Ok(Value::Bool(match name {
        "_<_" => order == Ordering::Less,
        "_<=_" => order != Ordering::Greater,
        "_>_" => order == Ordering::Greater,
        _ => order != Ordering::Less,
    }))
}

/// Applies an operator to two whole numbers of one type.
macro_rules! whole {
    ($name:expr, $a:expr, $b:expr, $made:path, $what:expr) => {{
        let result = match $name {
            operators::ADD => $a.checked_add(*$b),
            "_-_" => $a.checked_sub(*$b),
            "_*_" => $a.checked_mul(*$b),
            "_/_" if *$b == 0 => return Err(Failure::error("division by zero")),
            "_/_" => $a.checked_div(*$b),
            _ if *$b == 0 => return Err(Failure::error("modulus by zero")),
            _ => $a.checked_rem(*$b),
        };
        result.map($made).ok_or_else(|| overflow($what))
    }};
}

fn arithmetic(name: &str, a: &Value, b: &Value) -> EvaluationResult {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => whole!(name, a, b, Value::Int, "integer"),
        (Value::UInt(a), Value::UInt(b)) => whole!(name, a, b, Value::UInt, "unsigned integer"),
        (Value::Float(a), Value::Float(b)) if name != "_%_" => Ok(Value::Float(match name {
            operators::ADD => a + b,
            "_-_" => a - b,
            "_*_" => a * b,
            _ => a / b,
        })),
        _ => joined(name, a, b),
    }
}

/// Adds and subtracts texts, lists, times and durations.
fn joined(name: &str, a: &Value, b: &Value) -> EvaluationResult {
    let is_sum = name == operators::ADD;
    match (a, b) {
        (Value::String(a), Value::String(b)) if is_sum => Ok(string(&format!("{a}{b}"))),
        (Value::Bytes(a), Value::Bytes(b)) if is_sum => {
            Ok(Value::Bytes([&**a, &**b].concat().into()))
        }
        (Value::Duration(a), Value::Duration(b)) if is_sum => checked(a.checked_add(*b)),
        (Value::Duration(a), Value::Duration(b)) => checked(a.checked_sub(*b)),
        (Value::Timestamp(time), Value::Duration(by)) if is_sum => moved(*time, Some(*by)),
        (Value::Timestamp(time), Value::Duration(by)) => moved(*time, by.checked_neg()),
        (Value::Duration(by), Value::Timestamp(time)) if is_sum => moved(*time, Some(*by)),
        (Value::Timestamp(a), Value::Timestamp(b)) if !is_sum => checked(a.since(*b)),
        (a, b) if is_sum && as_list(a).is_some() => concatenated(a, b).ok_or_else(no_overload),
        (Value::Int(_) | Value::UInt(_) | Value::Float(_), _) => Err(no_overload()),
        (Value::Bytes(_), _) if is_sum => Err(no_overload()),
        _ => Err(no_operator(name, a)),
    }
}

/// Returns a duration, if it is not beyond 64 bits.
fn checked(duration: Option<i64>) -> EvaluationResult {
    duration
        .map(Value::Duration)
        .ok_or_else(|| overflow("integer"))
}

/// Returns a time moved by `by` nanoseconds.
fn moved(time: Timestamp, by: Option<i64>) -> EvaluationResult {
    let by = by.ok_or_else(|| overflow("integer"))?;
    time.checked_add(by)
        .map(Value::Timestamp)
        .ok_or_else(|| overflow("timestamp"))
}

fn is_in(item: &Value, container: &Value) -> EvaluationResult {
    if let Some(items) = as_list(container) {
        return Ok(Value::Bool(contains(items, item)));
    }
    match container {
        Value::Map(map) => Ok(Value::Bool(
            as_key(item).is_some_and(|key| map.contains_key(&key)),
        )),
        _ => Err(no_overload()),
    }
}
