//! The entries of `managedFields`: one for each manager, operation, version and subresource.

use serde_json::{Map, Value};

use super::FieldSet;

/// The operation of a manager that creates, updates and patches.
pub const UPDATE: &str = "Update";
/// The operation of a manager that applies.
pub const APPLY: &str = "Apply";

/// One entry of `managedFields`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub manager: String,
    /// [`UPDATE`] or [`APPLY`].
    pub operation: String,
    pub api_version: String,
    /// Empty for the object itself.
    pub subresource: String,
    /// Empty if it is not known when this manager wrote.
    pub time: String,
    pub fields: FieldSet,
}

// === impl Entry ===

impl Entry {
    fn from_value(value: &Value) -> Option<Self> {
        let text = |field: &str| match &value[field] {
            Value::Null => Some(String::new()),
            Value::String(text) => Some(text.clone()),
            _ => None,
        };
        let operation = text("operation")?;
        if !matches!(operation.as_str(), UPDATE | APPLY) {
            return None;
        }
        let api_version = text("apiVersion").filter(|version| !version.is_empty())?;
        if value["fieldsType"] != "FieldsV1" {
            return None;
        }
        Some(Self {
            manager: text("manager")?,
            operation,
            api_version,
            subresource: text("subresource")?,
            time: text("time")?,
            fields: FieldSet::from_value(&value["fieldsV1"])?,
        })
    }

    fn into_value(self) -> Value {
        let mut entry = Map::new();
        let mut put = |field: &str, text: String| {
            if !text.is_empty() {
                entry.insert(field.to_owned(), text.into());
            }
        };
        put("manager", self.manager);
        put("operation", self.operation);
        put("apiVersion", self.api_version);
        put("time", self.time);
        put("fieldsType", "FieldsV1".to_owned());
        put("subresource", self.subresource);
        entry.insert("fieldsV1".to_owned(), self.fields.into_value());
        Value::Object(entry)
    }

    /// The order of entries: applies before updates, then the oldest first.
    pub(super) fn order(&self) -> (&str, &str, &str, &str, &str) {
        (
            &self.operation,
            &self.time,
            &self.manager,
            &self.api_version,
            &self.subresource,
        )
    }
}

/// Takes the managed fields out of an object.
pub fn take(object: &mut Value) -> Value {
    object
        .get_mut("metadata")
        .and_then(Value::as_object_mut)
        .and_then(|metadata| metadata.remove("managedFields"))
        .unwrap_or_default()
}

/// The managed fields of an object, as they stand in it.
pub fn of(object: &Value) -> Option<Value> {
    object["metadata"].get("managedFields").cloned()
}

/// Makes `managers` the managed fields of an object.
pub fn set(object: &mut Value, managers: Option<Value>) {
    take(object);
    if let Some(managers) = managers {
        object["metadata"]["managedFields"] = managers;
    }
}

/// Writes the entries into an object that has none, in the order in which they are shown.
pub fn put(object: &mut Value, mut entries: Vec<Entry>) {
    entries.retain(|entry| !entry.fields.is_empty());
    entries.sort_by(|a, b| a.order().cmp(&b.order()));
    if entries.is_empty() {
        return;
    }
    let entries: Vec<Value> = entries.into_iter().map(Entry::into_value).collect();
    object["metadata"]["managedFields"] = entries.into();
}

/// Reads the entries; `None` if one of them is invalid.
pub fn decode(value: &Value) -> Option<Vec<Entry>> {
    match value {
        Value::Null => Some(Vec::new()),
        Value::Array(entries) => entries.iter().map(Entry::from_value).collect(),
        _ => None,
    }
}
