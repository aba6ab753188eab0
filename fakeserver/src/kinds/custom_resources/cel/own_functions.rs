//! Functions that the crates do not have, or have in another way.

use std::{cmp::Ordering, sync::Arc};

use kube_cel::cel::{Value, objects::Map};

use super::{
    evaluate::{Failure, Outcome, no_overload},
    values::{Entries, as_key, as_optional, from_entries, optional, size},
};

/// Returns the item of a list or the value of a map.
fn index(of: &Value, at: &Value) -> Outcome {
    match (of, at) {
        (Value::List(items), Value::Int(place)) => {
            let item = usize::try_from(*place)
                .ok()
                .and_then(|place| items.get(place));
            let failure = || Failure::Error(format!("index out of bounds: {place}"));
            item.cloned().ok_or_else(failure)
        }
        (Value::Map(Map { map }), key) => {
            let found = as_key(key).and_then(|key| map.get(&key).cloned());
            let shown = match key {
                Value::String(text) => text.to_string(),
                Value::Int(number) => number.to_string(),
                Value::UInt(number) => number.to_string(),
                other => format!("{other:?}"),
            };
            found.ok_or_else(|| Failure::Error(format!("no such key: {shown}")))
        }
        _ => Err(no_overload()),
    }
}

/// Calls a function that the crates do not have, or have in another way; `None` if they have it.
pub(super) fn own_function(name: &str, operands: &[Value]) -> Option<Outcome> {
    Some(match (name, operands) {
        ("dyn", [value]) => Ok(value.clone()),
        ("_==_", [one, other]) => Ok(Value::Bool(one == other)),
        ("_!=_", [one, other]) => Ok(Value::Bool(one != other)),
        ("size", [value]) => Ok(Value::Int(size(value).cast_signed())),
        ("_[_]", [of, at]) => match as_optional(of) {
            Some(inner) => Ok(optional(inner.and_then(|inner| index(inner, at).ok()))),
            None => index(of, at),
        },
        ("_[?_]", [of, at]) => {
            let inner = as_optional(of).unwrap_or(Some(of));
            Ok(optional(inner.and_then(|inner| index(inner, at).ok())))
        }
        ("optional.none", []) => Ok(optional(None)),
        ("optional.of", [value]) => Ok(optional(Some(value.clone()))),
        ("optional.ofNonZeroValue", [value]) => Ok(optional(
            Some(value.clone()).filter(|value| !value.is_zero()),
        )),
        ("hasValue", [value]) => Ok(Value::Bool(as_optional(value)?.is_some())),
        ("value", [value]) => {
            let none = || Failure::Error("optional.none() dereference".to_owned());
            as_optional(value)?.cloned().ok_or_else(none)
        }
        ("or", [value, other]) => Ok(match as_optional(value)? {
            Some(_) => value.clone(),
            None => other.clone(),
        }),
        ("orValue", [value, other]) => Ok(as_optional(value)?.unwrap_or(other).clone()),
        ("first", [Value::List(items)]) => Ok(optional(items.first().cloned())),
        ("last", [Value::List(items)]) => Ok(optional(items.last().cloned())),
        ("optional.unwrap" | "unwrapOpt", [Value::List(items)]) => {
            let values = items.iter().filter_map(|item| as_optional(item)?.cloned());
            Ok(Value::List(Arc::new(values.collect())))
        }
        ("lists.range", [Value::Int(count)]) => {
            Ok(Value::List(Arc::new((0..*count).map(Value::Int).collect())))
        }
        ("sort", [Value::List(items)]) => {
            let mut items = items.to_vec();
            items.sort_by(|one, other| one.partial_cmp(other).unwrap_or(Ordering::Equal));
            Ok(Value::List(Arc::new(items)))
        }
        ("cel.@mapInsert", [Value::Map(map), rest @ ..]) => insert(map, rest),
        _ => return None,
    })
}

fn insert(map: &Map, inserted: &[Value]) -> Outcome {
    let mut entries: Entries = map
        .map
        .iter()
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    let added = match inserted {
        [Value::Map(other)] => other
            .map
            .iter()
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect(),
        [key, value] => vec![(as_key(key).ok_or_else(no_overload)?, value.clone())],
        _ => return Err(no_overload()),
    };
    for (key, value) in added {
        if entries.contains_key(&key) {
            let message = format!("insert failed: key {key} already exists");
            return Err(Failure::Error(message));
        }
        entries.insert(key, value);
    }
    Ok(from_entries(entries))
}
