//! What stands in objects that their server never stored.

use bytes::Bytes;
use serde_json::{Value, json};

/// What is added to every object that a client is shown. The store is not changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rewrite {
    /// Fields that nobody knows, at its top and in its metadata.
    UnknownFields,
    /// So many bytes, in a field that nobody knows.
    Padding(usize),
}

/// What the fields that nobody knows are called.
const FIELD: &str = "fromTheFuture";

// === impl Rewrite ===

impl Rewrite {
    /// A frame of a watch, as JSON, with what is added to its object. Bookmarks and errors stay as they are, and so does
    /// what is no frame.
    pub fn frame(self, frame: Bytes) -> Bytes {
        edited(frame, |frame| {
            let is_event = matches!(
                frame["type"].as_str(),
                Some("ADDED" | "MODIFIED" | "DELETED")
            );
            is_event.then(|| self.add_to(&mut frame["object"]))
        })
    }

    /// The body of an answer, an object or a list as JSON, with what is added to each object. A `Status` stays as it is,
    /// and so does what is no object.
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

/// JSON in one line, changed by `edit`; as it was if it is no JSON, or if `edit` does not want it.
fn edited(line: Bytes, edit: impl FnOnce(&mut Value) -> Option<()>) -> Bytes {
    let Ok(mut value) = serde_json::from_slice::<Value>(&line) else {
        return line;
    };
    match edit(&mut value) {
        Some(()) => format!("{value}\n").into(),
        None => line,
    }
}
