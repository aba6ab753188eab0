//! Functions of lists, sets and maps.

use std::{cmp::Ordering, collections::BTreeMap, sync::Arc};

use super::{
    ast::operators,
    interpreter::{EvaluationResult, Failure},
    library::no_form,
    operations::{no_overload, operator},
    value::{
        Key, Value, as_key, as_list, as_optional, compare, concatenated, equals, list, optional,
        printed, string, type_name,
    },
};

/// Calls a function of lists, if `name` is one for such operands.
pub(super) fn call(name: &str, operands: &[Value]) -> Option<EvaluationResult> {
    let items = as_list(operands.first()?);
    let (Some(items), rest) = (items, &operands[1..]) else {
        return match (name, operands) {
            ("lists.range", [Value::Int(count)]) => Some(Ok(list((0..*count).map(Value::Int)))),
            _ => None,
        };
    };
    let (bool, position) = (
        |value| Ok(Value::Bool(value)),
        |found: Option<usize>| {
            let found = found.and_then(|found| i64::try_from(found).ok());
            Ok(Value::Int(found.unwrap_or(-1)))
        },
    );
    Some(match (name, rest) {
        ("isSorted", []) => {
            bool(items.is_sorted_by(|a, b| compare(a, b) != Some(Ordering::Greater)))
        }
        ("sum", []) => sum(items),
        ("min", []) => extreme(name, items, Ordering::Greater),
        ("max", []) => extreme(name, items, Ordering::Less),
        ("indexOf", [item]) => position(items.iter().position(|own| equals(own, item))),
        ("lastIndexOf", [item]) => position(items.iter().rposition(|own| equals(own, item))),
        ("slice", [Value::Int(from), Value::Int(to)]) => slice(items, *from, *to),
        ("flatten", []) => flattened(items, 1).map(list),
        ("flatten", [Value::Int(depth)]) => flattened(items, *depth).map(list),
        ("sort", []) => sorted_by(items, items),
        (operators::SORT_BY, [keys]) => sorted_by(items, as_list(keys)?),
        ("reverse", []) => Ok(list(items.iter().rev().cloned())),
        ("distinct", []) => Ok(list(distinct(items))),
        ("first", []) => Ok(optional(items.first().cloned())),
        ("last", []) => Ok(optional(items.last().cloned())),
        ("join", []) => join(items, "").unwrap_or_else(|| Err(no_form(name, operands))),
        ("join", [Value::String(separator)]) => {
            join(items, separator).unwrap_or_else(|| Err(no_form(name, operands)))
        }
        ("optional.unwrap" | "unwrapOpt", []) => unwrapped(items),
        ("sets.contains", [other]) => bool(contains_all(items, as_list(other)?)),
        ("sets.equivalent", [other]) => {
            let other = as_list(other)?;
            bool(contains_all(items, other) && contains_all(other, items))
        }
        ("sets.intersects", [other]) => {
            let other = as_list(other)?;
            bool(items.iter().any(|item| contains(other, item)))
        }
        _ => return None,
    })
}

/// Returns whether a list has an item.
pub(super) fn contains(items: &[Value], item: &Value) -> bool {
    items.iter().any(|own| equals(own, item))
}

fn contains_all(items: &[Value], others: &[Value]) -> bool {
    others.iter().all(|other| contains(items, other))
}

fn sum(items: &[Value]) -> EvaluationResult {
    let Some((first, rest)) = items.split_first() else {
        return Ok(Value::Int(0));
    };
    rest.iter().try_fold(first.clone(), |sum, item| {
        operator(operators::ADD, &[sum, item.clone()]).unwrap_or_else(|| Err(no_overload()))
    })
}

/// Returns the least or the greatest item; `worse` is the order of a worse item to a better one.
fn extreme(name: &str, items: &[Value], worse: Ordering) -> EvaluationResult {
    let best = items.iter().reduce(|best, item| {
        if compare(best, item) == Some(worse) {
            item
        } else {
            best
        }
    });
    let empty = || Failure::error(format!("{name} called on empty list"));
    best.cloned().ok_or_else(empty)
}

fn slice(items: &[Value], from: i64, to: i64) -> EvaluationResult {
    let fails = |why: String| Err(Failure::error(format!("cannot slice({from}, {to}), {why}")));
    if from < 0 || to < 0 {
        return fails("negative indexes not supported".to_owned());
    }
    if from > to {
        return fails("start index must be less than or equal to end index".to_owned());
    }
    let range = usize::try_from(from)
        .ok()
        .zip(usize::try_from(to).ok())
        .and_then(|(from, to)| items.get(from..to));
    match range {
        Some(items) => Ok(list(items.iter().cloned())),
        None => fails(format!("list is length {}", items.len())),
    }
}

fn flattened(items: &[Value], depth: i64) -> Result<Vec<Value>, Failure> {
    if depth < 0 {
        return Err(Failure::error("level must be non-negative"));
    }
    let mut all = Vec::new();
    for item in items {
        match as_list(item).filter(|_| depth > 0) {
            Some(inner) => all.extend(flattened(inner, depth - 1)?),
            None => all.push(item.clone()),
        }
    }
    Ok(all)
}

fn sorted_by(items: &[Value], keys: &[Value]) -> EvaluationResult {
    let mut pairs: Vec<(&Value, &Value)> = keys.iter().zip(items).collect();
    if let Some((first, _)) = pairs.first() {
        if compare(first, first).is_none() || **first == Value::Null {
            return Err(Failure::error("list elements must be comparable"));
        }
        let of = type_name(first);
        if keys.iter().any(|key| type_name(key) != of) {
            return Err(Failure::error("list elements must have the same type"));
        }
    }
    pairs.sort_by(|(a, _), (b, _)| compare(a, b).unwrap_or(Ordering::Equal));
    Ok(list(pairs.into_iter().map(|(_, item)| item.clone())))
}

fn distinct(items: &[Value]) -> Vec<Value> {
    let mut all: Vec<Value> = Vec::new();
    for item in items {
        if !contains(&all, item) {
            all.push(item.clone());
        }
    }
    all
}

/// Joins texts; nothing if the list is not one of texts.
fn join(items: &[Value], separator: &str) -> Option<EvaluationResult> {
    if items
        .first()
        .is_some_and(|first| !matches!(first, Value::String(_)))
    {
        return None;
    }
    let mut texts = Vec::with_capacity(items.len());
    for item in items {
        let Value::String(text) = item else {
            let why = format!("join: invalid input: {}", printed(item));
            return Some(Err(Failure::error(why)));
        };
        texts.push(&**text);
    }
    Some(Ok(string(&texts.join(separator))))
}

fn unwrapped(items: &[Value]) -> EvaluationResult {
    let mut all = Vec::new();
    for item in items {
        let not_optional = || Failure::error(format!("value {} is not optional", printed(item)));
        all.extend(as_optional(item).ok_or_else(not_optional)?.cloned());
    }
    Ok(list(all))
}

/// Adds to a list or a map that a loop accumulates.
pub(super) fn accumulate(function: &str, operands: Vec<Value>) -> EvaluationResult {
    let mut operands = operands.into_iter();
    match (operands.next(), operands.next(), operands.next()) {
        (Some(Value::List(mut items)), Some(added), None) if function == operators::ADD => {
            let added = as_list(&added).ok_or_else(no_overload)?;
            Arc::make_mut(&mut items).extend(added.iter().cloned());
            Ok(Value::List(items))
        }
        (Some(own), Some(added), None) if function == operators::ADD => {
            concatenated(&own, &added).ok_or_else(no_overload)
        }
        (Some(Value::Map(mut own)), Some(Value::Map(added)), None) => {
            for (key, value) in &*added {
                insert(&mut own, key.clone(), value.clone())?;
            }
            Ok(Value::Map(own))
        }
        (Some(Value::Map(mut own)), Some(key), Some(value)) => {
            insert(&mut own, as_key(&key).ok_or_else(no_overload)?, value)?;
            Ok(Value::Map(own))
        }
        _ => Err(no_overload()),
    }
}

fn insert(map: &mut Arc<BTreeMap<Key, Value>>, key: Key, value: Value) -> Result<(), Failure> {
    if map.contains_key(&key) {
        let why = format!("insert failed: key {key} already exists");
        return Err(Failure::error(why));
    }
    Arc::make_mut(map).insert(key, value);
    Ok(())
}
