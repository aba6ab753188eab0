//! The costs of calls that were made.

use super::{CHECK, LIST, PATTERN, STRUCT, TEXT, size::scale};
use crate::{
    named_formats::pattern_length,
    value::{Key, Value, as_list, of_key, size},
};

/// Returns the cost of a call with these operands, its target first.
pub(crate) fn call_cost(function: &str, overload: &str, operands: &[Value], result: &Value) -> u64 {
    let of = |place: usize| operands.get(place).map_or(1, size);
    let read = |length: u64| scale(length, TEXT);
    let matching = |text: u64, pattern: u64| read(text + 1).saturating_mul(scale(pattern, PATTERN));
    if let Some(cost) = list_cost(overload, operands, result) {
        return cost;
    }
    match (function, overload) {
        ("check", _) => CHECK,
        ("fieldSelector" | "labelSelector", _) => {
            let requirements = scale(of(1), 0.5);
            LIST + read(of(1)) + requirements.saturating_mul(LIST + STRUCT)
        }
        ("isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf", _) => {
            operands.first().map_or(0, traversal)
        }
        (
            "url"
            | "lowerAscii"
            | "upperAscii"
            | "substring"
            | "trim"
            | "jsonpatch.escapeKey"
            | "cidr"
            | "isIP"
            | "isCIDR"
            | "quantity"
            | "isQuantity"
            | "semver"
            | "isSemver",
            _,
        ) => read(of(0)),
        ("ip", overload) if overload != "cidr_ip" => read(of(0)),
        ("replace" | "split" | "ip.isCanonical", _) => scale(of(0), 2.0 * TEXT),
        ("join", _) => scale(size(result), 2.0 * TEXT),
        ("find" | "findAll", _) | (_, "matches_string") => matching(of(0), of(1)),
        ("containsIP" | "containsCIDR", overload) => {
            let mut cost = read(2 * of(0));
            if function == "containsCIDR" {
                cost += read(of(0)) + 1;
            }
            if overload == "contains_text" {
                cost += read(of(1));
            }
            cost
        }
        ("validate", _) => {
            let pattern = operands.first().and_then(pattern_length);
            pattern.map_or(1, |pattern| matching(of(1), pattern))
        }
        ("_==_", _) if is_opaque(&operands[0]) => 1,
        (
            _,
            "affix_string" | "string_to_bytes" | "bytes_to_string" | "strings_quote"
            | "string_format",
        ) => read(of(0)),
        (_, "in_list") => of(1),
        (_, "compare") | ("_==_" | "_!=_", _) => read(of(0).min(of(1))),
        (_, "add_string" | "add_bytes") => read(of(0) + of(1)),
        (_, "contains_string") => read(of(0)).saturating_mul(read(of(1))),
        _ => 1,
    }
}

/// Returns the cost of a call that makes or compares lists.
fn list_cost(overload: &str, operands: &[Value], result: &Value) -> Option<u64> {
    let of = |place: usize| operands.get(place).map_or(1, size);
    let made = |factor: f64, size: u64| times(size, factor) + 1 + LIST;
    Some(match overload {
        "sets_once" => 1 + of(0).saturating_mul(of(1)),
        "sets_twice" => 1 + times(of(0).saturating_mul(of(1)), 2.0),
        "list_slice" | "lists_range" | "list_reverse" => made(1.0, size(result)),
        "list_flatten" => match operands.get(1) {
            Some(Value::Int(depth)) => made(1.0, of(0).saturating_mul(depth.unsigned_abs())),
            _ => made(1.0, of(0)),
        },
        "list_distinct" | "list_sort" => made(compared(operands.first()), of(0).saturating_pow(2)),
        "list_sort_by" => made(compared(operands.get(1)), of(1).saturating_pow(2)),
        _ => return None,
    })
}

/// Returns the cost of comparing two items of a list.
fn compared(list: Option<&Value>) -> f64 {
    let first = list.and_then(as_list).and_then(|items| items.first());
    match first {
        Some(Value::String(_) | Value::Bytes(_)) => 2.0 + TEXT,
        _ => 2.0,
    }
}

/// Returns whether a value is one of a library of a real server.
fn is_opaque(value: &Value) -> bool {
    let Value::Opaque(opaque) = value else {
        return false;
    };
    let name = opaque.type_name();
    name.starts_with("net.") || name.starts_with("kubernetes.")
}

/// Returns the cost of reading all parts of a value.
fn traversal(value: &Value) -> u64 {
    match value {
        Value::String(text) => times(text.len() as u64, TEXT),
        Value::Bytes(bytes) => times(bytes.len() as u64, TEXT),
        Value::Map(map) => {
            let entries = map.iter();
            let entry = |(key, value): (&Key, &Value)| traversal(&of_key(key)) + traversal(value);
            entries.map(entry).sum()
        }
        other => as_list(other).map_or(1, |items| items.iter().map(traversal).sum()),
    }
}

/// Returns a number times a factor, rounded down.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "as a real server computes it"
)]
fn times(number: u64, factor: f64) -> u64 {
    (number as f64 * factor) as u64
}
