//! Locations of values in a document, to which the paths of a JSON patch lead.

use serde_json::{Map, Value};

use crate::go_text::quote;

/// The end of errors about what is not there.
pub(super) const MISSING: &str = "missing value";

/// An object or a list, in which an operation finds its member.
enum Container<'a> {
    Object(&'a mut Map<String, Value>),
    List(&'a mut Vec<Value>),
}

/// The location of a value in a document: its container, and its name or index there.
pub(super) struct Location<'a> {
    container: Container<'a>,
    pub(super) key: String,
}

// === impl Location ===

impl<'a> Location<'a> {
    /// Returns the value; `None` for a member that its object does not have, which counts as null.
    pub(super) fn get(self) -> Result<Option<&'a Value>, String> {
        match self.container {
            Container::Object(members) => Ok(members.get(&self.key)),
            Container::List(items) => {
                let index = index_of(&self.key, items.len())?;
                Ok(items.get(index))
            }
        }
    }

    /// Returns the number of items of the list that it is in.
    pub(super) fn item_count(&self) -> usize {
        match &self.container {
            Container::Object(_) => 0,
            Container::List(items) => items.len(),
        }
    }

    pub(super) fn add(self, value: Value) -> Result<(), String> {
        let key = self.key;
        match self.container {
            Container::Object(members) => {
                members.insert(key, value);
            }
            Container::List(items) if key == "-" => items.push(value),
            Container::List(items) => {
                let index = index_of(&key, items.len() + 1).map_err(|why| {
                    if why.starts_with("strconv") {
                        format!("value was not a proper array index: '{key}': {why}")
                    } else {
                        why
                    }
                })?;
                items.insert(index, value);
            }
        }
        Ok(())
    }

    pub(super) fn replace(self, value: Value) -> Result<(), String> {
        match self.container {
            Container::Object(members) => {
                members.insert(self.key, value);
            }
            Container::List(items) => {
                let index = index_of(&self.key, items.len())?;
                items[index] = value;
            }
        }
        Ok(())
    }

    pub(super) fn take(self) -> Result<Value, String> {
        let key = self.key;
        match self.container {
            Container::Object(members) => members
                .remove(&key)
                .ok_or_else(|| format!("Unable to remove nonexistent key: {key}: {MISSING}")),
            Container::List(items) => {
                let index = index_of(&key, items.len())?;
                Ok(items.remove(index))
            }
        }
    }
}

/// Finds the container to which all of `path` but its last part leads.
pub(super) fn find<'a>(document: &'a mut Value, path: &str) -> Option<Location<'a>> {
    let (_, parts) = path.split_once('/')?;
    let mut parts: Vec<String> = parts.split('/').map(decoded).collect();
    let key = parts.pop()?;
    let mut within = document;
    for part in parts {
        within = match within {
            Value::Object(members) => members.get_mut(&part)?,
            Value::Array(items) => {
                let index = index_of(&part, items.len()).ok()?;
                &mut items[index]
            }
            _ => return None,
        };
    }
    let container = match within {
        Value::Object(members) => Container::Object(members),
        Value::Array(items) => Container::List(items),
        _ => return None,
    };
    Some(Location { container, key })
}

/// Returns the index that `key` names in a list of `len` items.
pub(super) fn index_of(key: &str, len: usize) -> Result<usize, String> {
    let index: i64 = key
        .parse()
        .map_err(|_| format!("strconv.Atoi: parsing {}: invalid syntax", quote(key)))?;
    let place = if index < 0 {
        usize::try_from(index.unsigned_abs())
            .ok()
            .and_then(|back| len.checked_sub(back))
    } else {
        usize::try_from(index).ok()
    };
    let place = place.filter(|place| *place < len);
    place
        .ok_or_else(|| format!("Unable to access invalid index: {index}: invalid index referenced"))
}

pub(super) fn decoded(part: &str) -> String {
    part.replace("~1", "/").replace("~0", "~")
}
