//! Replaces the parts of an answer that differ from run to run: uids, versions, times.

use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock},
};

use regex::{Captures, Regex};
use serde_json::{Map, Value, json};

use super::patterns::{ADDRESS, UID, VERSION_IN_TEXT, VERSION_OF_PRECONDITION, pattern};

static TIME: LazyLock<Regex> = pattern!(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z");
static WHOLE_TIME: LazyLock<Regex> = pattern!(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$");
static VERSION_IN_JSON: LazyLock<Regex> = pattern!(r#""?resourceVersion\\*"?:\\*"\d+"#);
static STORAGE_KEY: LazyLock<Regex> =
    pattern!(r"(current: |StorageError: invalid object, Code: 4, Key: )[^,]*");

/// Makes answers comparable. Equal uids and equal versions stay equal throughout the values of one normaliser.
#[derive(Debug, Default)]
pub struct Normaliser {
    uids: BTreeMap<String, String>,
    versions: BTreeMap<String, String>,
}

/// The position of a value, as far as its treatment depends on it.
#[derive(Clone, Copy)]
struct ValuePosition<'a> {
    key: &'a str,
    /// True within the metadata of a list, whose version is not that of an object.
    in_list_metadata: bool,
}

// === impl Normaliser ===

impl Normaliser {
    /// Creates a normaliser without history.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the comparable form of an answer's body or of a list of events.
    pub fn value(&mut self, value: &Value) -> Value {
        self.walk(
            value,
            ValuePosition {
                key: "",
                in_list_metadata: false,
            },
        )
    }

    /// Returns the comparable form of a message.
    pub fn text(&mut self, text: &str) -> String {
        let text = UID.replace_all(text, |found: &Captures<'_>| {
            numbered(&mut self.uids, "uid", &found[0])
        });
        let text = VERSION_IN_TEXT.replace_all(&text, |found: &Captures<'_>| {
            let current = if found.get(2).is_some() { " (<n>)" } else { "" };
            format!("{}<n>{current}", &found[1])
        });
        let text = VERSION_OF_PRECONDITION.replace_all(&text, "$1 (<n>)");
        let text = VERSION_IN_JSON.replace_all(&text, "resourceVersion:<n>");
        let text = STORAGE_KEY.replace_all(&text, "$1<n>");
        let text = TIME.replace_all(&text, "<time>");
        ADDRESS.replace_all(&text, "<host>").into_owned()
    }

    fn walk(&mut self, value: &Value, place: ValuePosition<'_>) -> Value {
        match value {
            Value::Object(fields) => self.object(fields, place),
            Value::Array(items) => self.array(items, place.key),
            Value::String(text) => Value::String(self.string(text, place)),
            Value::Number(number) if place.key == "retryAfterSeconds" && !number.is_f64() => {
                json!("<secs>")
            }
            other => other.clone(),
        }
    }

    fn object(&mut self, fields: &Map<String, Value>, place: ValuePosition<'_>) -> Value {
        let is_bookmark = fields.get("type").is_some_and(|kind| kind == "BOOKMARK");
        if is_bookmark && let Some(Value::Object(object)) = fields.get("object") {
            return json!({"type": "BOOKMARK", "object": self.bookmark(object)});
        }
        let is_list = fields.contains_key("items") || fields.contains_key("rows") || is_bookmark;
        let walked = sorted(fields).map(|(key, value)| {
            let in_list_metadata = match key.as_str() {
                "metadata" => is_list,
                "items" => false,
                _ => place.in_list_metadata,
            };
            let place = ValuePosition {
                key,
                in_list_metadata,
            };
            (key.clone(), self.walk(value, place))
        });
        Value::Object(walked.collect())
    }

    /// Normalises a bookmark, whose version may be any that is new enough.
    fn bookmark(&mut self, object: &Map<String, Value>) -> Value {
        let mut walked = Map::new();
        let plain = |key| ValuePosition {
            key,
            in_list_metadata: false,
        };
        for (key, value) in sorted(object).filter(|(key, _)| *key != "metadata") {
            walked.insert(key.clone(), self.walk(value, plain(key)));
        }
        let mut metadata = Map::new();
        if let Some(Value::Object(fields)) = object.get("metadata") {
            for (key, value) in sorted(fields) {
                metadata.insert(key.clone(), self.walk(value, plain(key)));
            }
        }
        metadata.insert("resourceVersion".to_owned(), json!("<bookmarkrv>"));
        walked.insert("metadata".to_owned(), Value::Object(metadata));
        Value::Object(walked)
    }

    fn array(&mut self, items: &[Value], key: &str) -> Value {
        let mut items: Vec<Value> = items.to_vec();
        match key {
            "managedFields" => items.sort_by_key(|item| {
                ["manager", "operation", "subresource"].map(|field| text_of(item, field))
            }),
            "causes" => {
                items.sort_by_key(|item| ["field", "message"].map(|field| text_of(item, field)));
            }
            "columnDefinitions" => {
                for item in items.iter_mut().filter_map(Value::as_object_mut) {
                    item.remove("description");
                }
            }
            _ => {}
        }
        let place = ValuePosition {
            key,
            in_list_metadata: false,
        };
        items.iter().map(|item| self.walk(item, place)).collect()
    }

    fn string(&mut self, text: &str, place: ValuePosition<'_>) -> String {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        match place.key {
            "resourceVersion" if is_number && place.in_list_metadata => "<listrv>".to_owned(),
            "resourceVersion" if is_number => numbered(&mut self.versions, "rv", text),
            "continue" if !text.is_empty() => "<continue>".to_owned(),
            _ if WHOLE_TIME.is_match(text) => "<time>".to_owned(),
            _ => self.text(text),
        }
    }
}

/// Returns the name for `found`, with the next number if it is new.
fn numbered(names: &mut BTreeMap<String, String>, kind: &str, found: &str) -> String {
    let next = names.len() + 1;
    let name = names
        .entry(found.to_owned())
        .or_insert_with(|| format!("<{kind}{next}>"));
    name.clone()
}

/// Returns the fields in order of their keys, which determines the numbers of uids; a JSON map may be unsorted.
fn sorted(fields: &Map<String, Value>) -> impl Iterator<Item = (&String, &Value)> {
    let mut fields: Vec<_> = fields.iter().collect();
    fields.sort_by_key(|(key, _)| *key);
    fields.into_iter()
}

fn text_of(value: &Value, field: &str) -> Arc<str> {
    value[field].as_str().unwrap_or_default().into()
}
