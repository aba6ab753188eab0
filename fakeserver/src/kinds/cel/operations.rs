//! Operators on values, and what calls cost.

use std::{cmp::Ordering, sync::Arc};

use kube_cel::cel::{Value, objects::Key};

use super::{
    ast::operators,
    interpreter::{Evaluated, Failure},
    library::no_such_overload,
    value::{as_key, as_optional, compare, equals, optional, type_name},
};

/// Applies an operator, if `name` is one.
pub(super) fn operator(name: &str, args: &[Value]) -> Option<Evaluated> {
    Some(match (name, args) {
        (operators::EQUALS, [a, b]) => Ok(Value::Bool(equals(a, b))),
        (operators::NOT_EQUALS, [a, b]) => Ok(Value::Bool(!equals(a, b))),
        ("_<_" | "_<=_" | "_>_" | "_>=_", [a, b]) => ordered(name, a, b),
        ("_+_" | "_-_" | "_*_" | "_/_" | "_%_", [a, b]) => arithmetic(name, a, b),
        (operators::NOT, [Value::Bool(value)]) => Ok(Value::Bool(!value)),
        (operators::NEGATE, [Value::Int(number)]) => number
            .checked_neg()
            .map(Value::Int)
            .ok_or_else(|| overflow("integer")),
        (operators::NEGATE, [Value::Float(number)]) => Ok(Value::Float(-number)),
        (operators::NOT | operators::NEGATE, [other]) => Err(no_such_overload(name, &[other])),
        (operators::IN, [item, container]) => contains(item, container),
        (operators::INDEX, [of, index]) => indexed(of, index),
        (operators::OPTIONAL_INDEX, [of, index]) => optional_index(of, index),
        _ => return None,
    })
}

fn overflow(what: &str) -> Failure {
    Failure::Error(format!("{what} overflow"))
}

fn ordered(name: &str, a: &Value, b: &Value) -> Evaluated {
    if let (Value::Null, _) | (_, Value::Null) = (a, b) {
        return Err(no_such_overload(name, &[a, b]));
    }
    let Some(order) = compare(a, b) else {
        return Err(no_such_overload(name, &[a, b]));
    };
    Ok(Value::Bool(match name {
        "_<_" => order == Ordering::Less,
        "_<=_" => order != Ordering::Greater,
        "_>_" => order == Ordering::Greater,
        _ => order != Ordering::Less,
    }))
}

fn arithmetic(name: &str, a: &Value, b: &Value) -> Evaluated {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => {
            if *b == 0 {
                by_zero(name)?;
            }
            let result = match name {
                "_+_" => a.checked_add(*b),
                "_-_" => a.checked_sub(*b),
                "_*_" => a.checked_mul(*b),
                "_/_" => a.checked_div(*b),
                _ => a.checked_rem(*b),
            };
            result.map(Value::Int).ok_or_else(|| overflow("integer"))
        }
        (Value::UInt(a), Value::UInt(b)) => {
            if *b == 0 {
                by_zero(name)?;
            }
            let result = match name {
                "_+_" => a.checked_add(*b),
                "_-_" => a.checked_sub(*b),
                "_*_" => a.checked_mul(*b),
                "_/_" => a.checked_div(*b),
                _ => a.checked_rem(*b),
            };
            result
                .map(Value::UInt)
                .ok_or_else(|| overflow("unsigned integer"))
        }
        (Value::Float(a), Value::Float(b)) if name != "_%_" => Ok(Value::Float(match name {
            "_+_" => a + b,
            "_-_" => a - b,
            "_*_" => a * b,
            _ => a / b,
        })),
        _ => joined(name, a, b),
    }
}

fn by_zero(name: &str) -> Result<(), Failure> {
    match name {
        "_/_" => Err(Failure::Error("division by zero".to_owned())),
        "_%_" => Err(Failure::Error("modulus by zero".to_owned())),
        _ => Ok(()),
    }
}

/// Adds and subtracts what is no number.
fn joined(name: &str, a: &Value, b: &Value) -> Evaluated {
    let is_sum = name == "_+_";
    match (a, b) {
        (Value::String(a), Value::String(b)) if is_sum => {
            Ok(Value::String(Arc::new(format!("{a}{b}"))))
        }
        (Value::Bytes(a), Value::Bytes(b)) if is_sum => Ok(Value::Bytes(Arc::new(
            a.iter().chain(b.iter()).copied().collect(),
        ))),
        (Value::List(a), Value::List(b)) if is_sum => Ok(Value::List(Arc::new(
            a.iter().chain(b.iter()).cloned().collect(),
        ))),
        (Value::Duration(a), Value::Duration(b)) => {
            let result = if is_sum {
                a.checked_add(b)
            } else {
                a.checked_sub(b)
            };
            result
                .map(Value::Duration)
                .ok_or_else(|| overflow("duration"))
        }
        (Value::Timestamp(time), Value::Duration(by)) => {
            let result = if is_sum {
                time.checked_add_signed(*by)
            } else {
                time.checked_sub_signed(*by)
            };
            result
                .map(Value::Timestamp)
                .ok_or_else(|| overflow("timestamp"))
        }
        (Value::Duration(by), Value::Timestamp(time)) if is_sum => {
            let result = time.checked_add_signed(*by);
            result
                .map(Value::Timestamp)
                .ok_or_else(|| overflow("timestamp"))
        }
        (Value::Timestamp(a), Value::Timestamp(b)) if !is_sum => {
            Ok(Value::Duration(a.signed_duration_since(*b)))
        }
        _ => Err(no_such_overload(name, &[a, b])),
    }
}

fn contains(item: &Value, container: &Value) -> Evaluated {
    match container {
        Value::List(items) => Ok(Value::Bool(items.iter().any(|other| equals(item, other)))),
        Value::Map(map) => Ok(Value::Bool(
            as_key(item).is_some_and(|key| map.map.contains_key(&key)),
        )),
        other => Err(no_such_overload(operators::IN, &[item, other])),
    }
}

fn find(of: &Value, index: &Value) -> Result<Option<Value>, Failure> {
    match of {
        Value::List(items) => {
            let Some(Key::Int(position)) = as_key(index) else {
                let why = format!("unsupported index type '{}' in list", type_name(index));
                return Err(Failure::Error(why));
            };
            let item = usize::try_from(position)
                .ok()
                .and_then(|position| items.get(position));
            Ok(item.cloned())
        }
        Value::Map(map) => Ok(as_key(index).and_then(|key| map.map.get(&key).cloned())),
        other => Err(no_such_overload(operators::INDEX, &[other, index])),
    }
}

fn indexed(of: &Value, index: &Value) -> Evaluated {
    if let Some(content) = as_optional(of) {
        let found = match content {
            Some(content) => find(&content, index)?,
            None => None,
        };
        return Ok(optional(found));
    }
    let shown = || match index {
        Value::String(text) => text.to_string(),
        Value::Int(number) => number.to_string(),
        Value::UInt(number) => number.to_string(),
        Value::Bool(value) => value.to_string(),
        other => type_name(other),
    };
    find(of, index)?.ok_or_else(|| {
        Failure::Error(match of {
            Value::List(_) => format!("index out of bounds: {}", shown()),
            _ => format!("no such key: {}", shown()),
        })
    })
}

fn optional_index(of: &Value, index: &Value) -> Evaluated {
    match as_optional(of) {
        Some(None) => Ok(optional(None)),
        Some(Some(content)) => find(&content, index).map(optional),
        None => find(of, index).map(optional),
    }
}

/// Returns the cost of a call with evaluated arguments.
pub(super) fn cost(name: &str, target: Option<&Value>, args: &[Value]) -> u64 {
    let size = |value: Option<&Value>| value.map_or(1, size);
    let first = target.or(args.first());
    let last = args.last();
    // A tenth for each character that is looked at.
    let read = |characters: u64| characters.div_ceil(10).max(1);
    match name {
        "check" => 350_000,
        operators::EQUALS | operators::NOT_EQUALS | "_<_" | "_<=_" | "_>_" | "_>=_" => {
            read(size(first).min(size(last)))
        }
        "_+_" => match first {
            Some(Value::String(_) | Value::Bytes(_)) => read(size(first) + size(last)),
            _ => 1,
        },
        operators::IN => match last {
            Some(Value::List(items)) => u64::try_from(items.len()).unwrap_or(u64::MAX).max(1),
            _ => 1,
        },
        "contains" | "matches" | "find" | "findAll" => {
            read(size(first)).saturating_mul(size(last).div_ceil(4).max(1))
        }
        "startsWith" | "endsWith" => read(size(last)),
        "lowerAscii" | "upperAscii" | "replace" | "split" | "substring" | "trim" | "url"
        | "isURL" | "quantity" | "isQuantity" | "ip" | "isIP" | "cidr" | "isCIDR" | "string"
        | "bytes" => read(size(first)),
        "isSorted" | "sum" | "min" | "max" | "indexOf" | "lastIndexOf" | "sort" | "distinct"
        | "reverse" | "flatten" | "join" | "slice" => size(first).max(1),
        "sets.contains" | "sets.intersects" | "sets.equivalent" => {
            size(first).saturating_mul(size(last)).max(1)
        }
        _ => 1,
    }
}

/// Returns the number of elements or characters of a value.
fn size(value: &Value) -> u64 {
    let count = match value {
        Value::String(text) => text.chars().count(),
        Value::Bytes(bytes) => bytes.len(),
        Value::List(items) => items.len(),
        Value::Map(map) => map.map.len(),
        _ => 1,
    };
    u64::try_from(count).unwrap_or(u64::MAX)
}
