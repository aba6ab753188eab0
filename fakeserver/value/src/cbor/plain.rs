//! A data item becomes JSON of no type, as Go reads it into `interface{}`.

use serde_json::{Map, Value, json};

use super::{
    entries::is_repeated,
    error::CborError,
    item::{FALSE, Item, NULL, TRUE, negated},
    tags::{ExpectedEncoding, time, untagged, untagged_to_time},
};

/// Returns the value of an item.
pub(super) fn value(item: &Item<'_>, later: Option<ExpectedEncoding>) -> Result<Value, CborError> {
    let (item, later) = untagged_to_time(item, later)?;
    match item {
        Item::Positive(number) => match i64::try_from(*number) {
            Ok(number) => Ok(json!(number)),
            Err(_) => Err(overflow(item, i128::from(*number))),
        },
        Item::Negative(number) => match i64::try_from(negated(*number)) {
            Ok(number) => Ok(json!(number)),
            Err(_) => Err(overflow(item, negated(*number))),
        },
        Item::Bytes(_) | Item::Text(_) => text(item, later).map(Value::String),
        Item::Tag(_, content) => time(content).map(Value::String),
        Item::Simple(FALSE) => Ok(json!(false)),
        Item::Simple(TRUE) => Ok(json!(true)),
        Item::Simple(NULL) => Ok(Value::Null),
        Item::Simple(_) => Err(CborError::mismatch(item, "interface {}")),
        Item::Float(number) => Ok(json!(number)),
        Item::Array(items) => items.iter().map(|item| value(item, later)).collect(),
        Item::Map(pairs) => members(pairs, later).map(Value::Object),
    }
}

/// Returns the value of an item that has to be a map.
pub(super) fn map(item: &Item<'_>) -> Result<Map<String, Value>, CborError> {
    const GO: &str = "map[string]interface {}";
    match untagged(item, None)? {
        (Item::Map(pairs), later) => members(pairs, later),
        (Item::Simple(NULL), _) => Ok(Map::new()),
        (other, _) => Err(CborError::mismatch(other, GO)),
    }
}

/// Returns the text of an item that has to be one; null is empty.
pub(super) fn string(
    item: &Item<'_>,
    later: Option<ExpectedEncoding>,
    go: &str,
) -> Result<String, CborError> {
    match untagged(item, later)? {
        (item @ (Item::Bytes(_) | Item::Text(_)), later) => text(item, later),
        (Item::Simple(NULL), _) => Ok(String::new()),
        (other, _) => Err(CborError::mismatch(other, go)),
    }
}

/// Returns the key of a map. Go decodes each key into the variable of the previous key, so that null repeats the previous key.
pub(super) fn key(
    item: &Item<'_>,
    later: Option<ExpectedEncoding>,
    go: &str,
    last: &mut String,
) -> Result<String, CborError> {
    let (inner, _) = untagged(item, later)?;
    if !matches!(inner, Item::Simple(NULL)) {
        *last = string(item, later, go)?;
    }
    Ok(last.clone())
}

fn text(item: &Item<'_>, later: Option<ExpectedEncoding>) -> Result<String, CborError> {
    match (item, later) {
        (Item::Text(Some(text)), _) => Ok(text.to_string()),
        (Item::Bytes(bytes), Some(later)) => Ok(later.encode(bytes)),
        (Item::Bytes(bytes), None) => Ok(String::from_utf8_lossy(bytes).into_owned()),
        _ => Err(CborError::not_text()),
    }
}

fn members(
    pairs: &[(Item<'_>, Item<'_>)],
    later: Option<ExpectedEncoding>,
) -> Result<Map<String, Value>, CborError> {
    let mut members = Map::new();
    let mut first = None;
    let mut last = String::new();
    for (index, (name, item)) in pairs.iter().enumerate() {
        let read = key(name, later, "string", &mut last)
            .and_then(|key| value(item, later).map(|value| (key, value)));
        match read {
            // A duplicate key takes precedence over earlier errors.
            Ok((key, _)) if members.contains_key(&key) => return Err(is_repeated(&key, index)),
            Ok((key, value)) => {
                members.insert(key, value);
            }
            Err(error) => {
                first.get_or_insert(error);
            }
        }
    }
    first.map_or(Ok(members), Err)
}

fn overflow(item: &Item<'_>, number: i128) -> CborError {
    CborError::mismatch_because(item, "int64", format!("{number} overflows Go's int64"))
}
