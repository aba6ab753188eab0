//! The pairs of a map that is read into a struct: keys are names of fields.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
};

use serde_json::{Map, Value};

use super::{
    error::CborError,
    item::{Item, negated},
    plain,
};

/// A key of a map.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Key<'i> {
    Name(Cow<'i, str>),
    Number(i64),
    /// A value of another type, which no field has.
    Other(String),
}

/// Reads the fields of a struct. `read` returns nothing for a field that the struct does not have.
pub(super) fn fields(
    pairs: &[(Item<'_>, Item<'_>)],
    go: &str,
    is_strict: bool,
    mut read: impl FnMut(&str, &Item<'_>) -> Option<Result<Value, CborError>>,
) -> Result<Map<String, Value>, CborError> {
    let mut found: BTreeMap<String, Value> = BTreeMap::new();
    let mut unknown = BTreeSet::new();
    let mut first = None;
    for (index, (key, item)) in pairs.iter().enumerate() {
        let key = match Key::of(key) {
            Ok(key) => key,
            Err((error, key)) => {
                first.get_or_insert(error);
                let Some(key) = key else { continue };
                key
            }
        };
        if let Key::Name(name) = &key {
            if found.contains_key(&**name) {
                return Err(is_repeated(name, index));
            }
            if let Some(value) = read(name, item) {
                let value = value.unwrap_or_else(|error| {
                    first.get_or_insert(error.within(go, name));
                    Value::Null
                });
                found.insert(name.to_string(), value);
                continue;
            }
        }
        if is_strict {
            return Err(CborError::UnknownField { index });
        }
        let printed = key.print();
        if !unknown.insert(key) {
            return Err(CborError::duplicate(&printed, index));
        }
    }
    first.map_or_else(|| Ok(found.into_iter().collect()), Err)
}

/// Creates the error of a key that is there twice.
pub(super) fn is_repeated(key: &str, index: usize) -> CborError {
    CborError::duplicate(&format!("{key:?}"), index)
}

/// Creates the error of a key that no field can have.
fn unmatched(key: &Item<'_>, go: &str, why: &str) -> CborError {
    CborError::Mismatch {
        found: key.kind(),
        place: "value".to_owned(),
        go: go.to_owned(),
        detail: format!(" ({why})"),
    }
}

// === impl Key ===

impl<'i> Key<'i> {
    /// Reads a key. With the error of one that no field can have is the key, if a map of Go can have it.
    fn of(item: &'i Item<'_>) -> Result<Self, (CborError, Option<Self>)> {
        match item {
            Item::Text(Some(text)) => Ok(Self::Name(Cow::Borrowed(text))),
            Item::Text(None) => Err((CborError::not_text(), None)),
            Item::Bytes(bytes) => Ok(Self::Name(String::from_utf8_lossy(bytes))),
            #[expect(clippy::cast_possible_wrap, reason = "Go lets it wrap")]
            Item::Positive(number) => Ok(Self::Number(*number as i64)),
            Item::Negative(number) => {
                if let Ok(number) = i64::try_from(negated(*number)) {
                    return Ok(Self::Number(number));
                }
                let why = format!("-1-{number} overflows Go's int64");
                Err((unmatched(item, "int64", &why), None))
            }
            other => {
                let why = format!(
                    "map key is of type {} and cannot be used to match struct field name",
                    other.kind()
                );
                let error = unmatched(other, "string", &why);
                let value = plain::value(other, None).ok();
                let value = value.filter(|value| !value.is_array() && !value.is_object());
                Err((error, value.map(|value| Self::Other(value.to_string()))))
            }
        }
    }

    fn print(&self) -> String {
        match self {
            Self::Name(name) => format!("{name:?}"),
            Self::Number(number) => number.to_string(),
            Self::Other(text) if text == "null" => "<nil>".to_owned(),
            Self::Other(text) => text.clone(),
        }
    }
}
