//! A place in an object: its path as findings name it, and its value.

use serde_json::Value;

/// What stands where nothing is.
static NOTHING: Value = Value::Null;

/// A field of an object, there or not.
#[derive(Clone, Debug)]
pub(super) struct Field<'a> {
    path: String,
    value: &'a Value,
}

// === impl Field ===

impl<'a> Field<'a> {
    /// A whole object, whose path is empty.
    pub(super) fn root(object: &'a Value) -> Self {
        Self {
            path: String::new(),
            value: object,
        }
    }

    /// A member of a struct.
    pub(super) fn at(&self, name: &str) -> Field<'a> {
        let path = match self.path.as_str() {
            "" => name.to_owned(),
            path => [path, ".", name].concat(),
        };
        Field {
            path,
            value: self.get(name),
        }
    }

    /// An entry of a map.
    pub(super) fn key(&self, key: &str) -> Field<'a> {
        Field {
            path: within(&self.path, key),
            value: self.get(key),
        }
    }

    /// The same value, where findings say it stands in another struct.
    pub(super) fn called_within(&self, parent: &Field<'a>, name: &str) -> Field<'a> {
        Field {
            value: self.value,
            ..parent.at(name)
        }
    }

    /// The same value, where findings say it stands at another place.
    pub(super) fn called_at(&self, place: &Field<'_>) -> Field<'a> {
        Field {
            path: place.path.clone(),
            value: self.value,
        }
    }

    /// An item of a list, there or not.
    pub(super) fn place(&self, place: usize) -> Field<'a> {
        Field {
            path: within(&self.path, &place.to_string()),
            value: self.value.get(place).unwrap_or(&NOTHING),
        }
    }

    /// The items of a list.
    pub(super) fn items(&self) -> impl Iterator<Item = Field<'a>> + use<'a> {
        let path = self.path.clone();
        let items = self.value.as_array().into_iter().flatten().enumerate();
        items.map(move |(place, value)| Field {
            path: within(&path, &place.to_string()),
            value,
        })
    }

    /// The entries of a map, by key.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&'a str, Field<'a>)> + use<'a> {
        let path = self.path.clone();
        let entries = self.value.as_object().into_iter().flatten();
        entries.map(move |(key, value)| {
            let path = within(&path, key);
            (key.as_str(), Field { path, value })
        })
    }

    /// The value of a member, without its path.
    pub(super) fn get(&self, name: &str) -> &'a Value {
        self.value.get(name).unwrap_or(&NOTHING)
    }

    pub(super) fn path(&self) -> &str {
        &self.path
    }

    pub(super) fn value(&self) -> &'a Value {
        self.value
    }

    /// Whether it is there.
    pub(super) fn is_set(&self) -> bool {
        !self.value.is_null()
    }

    /// Whether it is a text that says something.
    pub(super) fn has_text(&self) -> bool {
        !self.text().is_empty()
    }

    pub(super) fn text(&self) -> &'a str {
        self.value.as_str().unwrap_or_default()
    }

    pub(super) fn number(&self) -> i64 {
        self.value.as_i64().unwrap_or_default()
    }

    pub(super) fn is_true(&self) -> bool {
        *self.value == Value::Bool(true)
    }

    /// How many items or entries there are.
    pub(super) fn len(&self) -> usize {
        match self.value {
            Value::Array(items) => items.len(),
            Value::Object(entries) => entries.len(),
            _ => 0,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The path of an entry or an item. There are so many of them that formatting would be a tenth of a write.
fn within(path: &str, key: &str) -> String {
    [path, "[", key, "]"].concat()
}
