//! The fields of values that cannot be decoded, whose errors name no path, or one without the places in lists.

use fakeserver_value::schema::{Quantity, decode_base64};
use serde_json::Value;

/// The words of a mismatch before the path, which begins with the name of a Go type.
const OF_FIELD: &str = "Go struct field ";
/// The words of Go's decoder before the type of the value.
const UNMARSHAL: &str = "cannot unmarshal ";
/// The maps whose values are quantities.
const QUANTITIES: [&str; 8] = [
    "limits",
    "requests",
    "capacity",
    "hard",
    "max",
    "min",
    "default",
    "defaultRequest",
];
/// The fields that are quantities.
const QUANTITY_FIELDS: [&str; 3] = ["sizeLimit", "averageValue", "divisor"];
/// The levels of an object that are searched. No kind has as many.
const LEVELS_MAX: usize = 100;

/// Returns the path of the first value that an error of decoding can be about.
pub(super) fn path(error: &str, object: &Value) -> Option<String> {
    if let Some((before, after)) = error.split_once(OF_FIELD) {
        let kind = before.split_once(UNMARSHAL)?.1.split(' ').next()?;
        let path = after.split(' ').next()?;
        // The first word is the Go type, and may be empty.
        let (_, path) = path.split_once('.')?;
        let names: Vec<&str> = path.split('.').collect();
        return mismatch(object, &names, kind).or_else(|| Some(path.to_owned()));
    }
    if error.contains("quantities must match") || error.contains("quantity's suffix") {
        return find(object, "", false, LEVELS_MAX, &|key, is_quantity, value| {
            (is_quantity || QUANTITY_FIELDS.contains(&key)) && is_no_quantity(value)
        });
    }
    if error.contains("illegal base64") {
        let members = object["data"].as_object()?;
        let is_no_base64 = |value: &Value| {
            value
                .as_str()
                .is_some_and(|text| decode_base64(text).is_err())
        };
        let (key, _) = members.iter().find(|(_, value)| is_no_base64(value))?;
        return Some(format!("data.{key}"));
    }
    if error.starts_with("parsing time ") {
        let text = error.split('"').nth(1)?;
        return find(object, "", false, LEVELS_MAX, &|_, _, value| value == text);
    }
    None
}

/// Returns the path of the first value at `names`, in any item of a list, that is of this kind of JSON.
fn mismatch(value: &Value, names: &[&str], kind: &str) -> Option<String> {
    match value {
        Value::Array(items) if kind != "array" || !names.is_empty() => {
            items.iter().enumerate().find_map(|(index, item)| {
                let path = mismatch(item, names, kind)?;
                Some(joined(&format!("[{index}]"), &path))
            })
        }
        Value::Object(members) => match names.split_first() {
            Some((name, rest)) => {
                let path = mismatch(members.get(*name)?, rest, kind)?;
                Some(joined(name, &path))
            }
            None if kind == "object" => Some(String::new()),
            // The error names the map, and is about one of its values.
            None => members.iter().find_map(|(key, member)| {
                let path = mismatch(member, names, kind)?;
                Some(joined(key, &path))
            }),
        },
        _ => (names.is_empty() && kind_of(value) == kind).then(String::new),
    }
}

/// Joins a name and the path after it.
fn joined(name: &str, rest: &str) -> String {
    let separator = if rest.is_empty() || rest.starts_with('[') {
        ""
    } else {
        "."
    };
    format!("{name}{separator}{rest}")
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Returns the path of the first leaf that `is_wanted` wants, by its key, whether it is in a map of quantities, and its value.
fn find(
    value: &Value,
    key: &str,
    is_quantity: bool,
    levels: usize,
    is_wanted: &dyn Fn(&str, bool, &Value) -> bool,
) -> Option<String> {
    let below = levels.checked_sub(1)?;
    match value {
        Value::Array(items) => items.iter().enumerate().find_map(|(index, item)| {
            let path = find(item, key, is_quantity, below, is_wanted)?;
            Some(joined(&format!("[{index}]"), &path))
        }),
        Value::Object(members) => {
            let of_map = QUANTITIES.contains(&key);
            members.iter().find_map(|(name, member)| {
                let path = find(member, name, of_map, below, is_wanted)?;
                Some(joined(name, &path))
            })
        }
        leaf => is_wanted(key, is_quantity, leaf).then(String::new),
    }
}

fn is_no_quantity(value: &Value) -> bool {
    match value {
        Value::String(text) => text.parse::<Quantity>().is_err(),
        Value::Number(_) => false,
        _ => true,
    }
}
