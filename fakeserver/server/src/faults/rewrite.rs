//! Additions to objects in answers.

use bytes::Bytes;
use serde_json::{Value, json};

/// An addition to every object that a client reads. The store is not changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rewrite {
    /// Unknown fields, at the top of the object and in its metadata.
    UnknownFields,
    /// An unknown field of this many bytes.
    Padding(usize),
}

/// The name of the unknown fields.
const FIELD: &str = "fromTheFuture";

// === impl Rewrite ===

impl Rewrite {
    /// Adds to the object of a frame, as JSON. Bookmarks, errors and bytes that are no frame stay unchanged.
    pub fn frame(self, frame: Bytes) -> Bytes {
        edited(frame, |frame| {
            let is_event = matches!(
                frame["type"].as_str(),
                Some("ADDED" | "MODIFIED" | "DELETED")
            );
            is_event.then(|| self.add_to(&mut frame["object"]))
        })
    }

    /// Adds to each object in the body of an answer, an object or a list as JSON. A `Status` and bytes that are no object
    /// stay unchanged.
    pub fn body(self, body: Bytes) -> Bytes {
        edited(body, |body| {
            if body["kind"] == "Status" || !body.is_object() {
                return None;
            }
            match body.get_mut("items").and_then(Value::as_array_mut) {
                Some(items) => items.iter_mut().for_each(|item| self.add_to(item)),
                None => self.add_to(body),
            }
            Some(())
        })
    }

    fn add_to(self, object: &mut Value) {
        match self {
            Self::UnknownFields => {
                let unknown = json!({"a": [1, {"b": null}], "c": "\u{1F600}"});
                object["metadata"][FIELD] = unknown.clone();
                object[FIELD] = unknown;
            }
            Self::Padding(bytes) => object[FIELD] = "x".repeat(bytes).into(),
        }
    }
}

/// Edits a line of JSON. The line stays unchanged if it is no JSON or if `edit` returns `None`.
fn edited(line: Bytes, edit: impl FnOnce(&mut Value) -> Option<()>) -> Bytes {
    let Ok(mut value) = serde_json::from_slice::<Value>(&line) else {
        return line;
    };
    match edit(&mut value) {
        Some(()) => format!("{value}\n").into(),
        None => line,
    }
}
