//! JSON becomes CBOR. Of built-in types it is known which texts are bytes, and which numbers are never integers.

use serde_json::{Map, Number, Value};

use super::{
    head::{self, ARRAY, BYTES, MAP, NEGATIVE, POSITIVE, PRIMITIVE, TAG},
    item::{FALSE, NULL, TRUE},
    tags::{BASE64, SELF_DESCRIBED},
};
use crate::schema::{Field, FieldValue, Form, Shape, TypeId, decode_base64};

/// Encodes an object: of a built-in type, or of none.
pub fn encode(value: &Value, id: Option<TypeId>) -> Vec<u8> {
    let mut out = Buffer(Vec::new());
    out.push(TAG, SELF_DESCRIBED);
    out.value(value, id);
    out.0
}

/// Encodes a frame of a watch around an object that is encoded already.
pub fn encode_frame(kind: &str, object: &[u8]) -> Vec<u8> {
    let mut out = Buffer(Vec::new());
    out.push(TAG, SELF_DESCRIBED);
    out.push(MAP, 2);
    out.text("type");
    out.text(kind);
    out.text("object");
    out.0.extend_from_slice(object);
    out.0
}

/// Encodes the beginning of a list, up to the first of `count` items.
pub fn begin_list(kind: &str, count: usize) -> Vec<u8> {
    let mut out = Buffer(Vec::new());
    out.push(TAG, SELF_DESCRIBED);
    out.push(MAP, 4);
    out.text("kind");
    out.text(kind);
    out.text("items");
    out.push_length(ARRAY, count);
    out.0
}

/// Encodes the rest of a list, after its last item.
pub fn end_list(metadata: &Value, api_version: &str) -> Vec<u8> {
    let mut out = Buffer(Vec::new());
    out.text("metadata");
    out.value(metadata, None);
    out.text("apiVersion");
    out.text(api_version);
    out.0
}

/// Appends an item of a list.
pub fn push_item(value: &Value, id: Option<TypeId>, out: &mut Vec<u8>) {
    let mut item = Buffer(std::mem::take(out));
    item.value(value, id);
    *out = item.0;
}

struct Buffer(Vec<u8>);

// === impl Buffer ===

impl Buffer {
    fn value(&mut self, value: &Value, id: Option<TypeId>) {
        match id {
            Some(id) => self.message(id, value),
            None => self.plain(value),
        }
    }

    fn plain(&mut self, value: &Value) {
        match value {
            Value::Null => self.push(PRIMITIVE, NULL.into()),
            Value::Bool(false) => self.push(PRIMITIVE, FALSE.into()),
            Value::Bool(true) => self.push(PRIMITIVE, TRUE.into()),
            Value::Number(number) => match (number.as_u64(), number.as_i64()) {
                (Some(number), _) => self.push(POSITIVE, number),
                (None, Some(number)) => self.push(NEGATIVE, (!number).unsigned_abs()),
                (None, None) => self.float(number),
            },
            Value::String(text) => self.text(text),
            Value::Array(items) => self.list(items, Self::plain),
            Value::Object(members) => self.members(members, |out, _, value| out.plain(value)),
        }
    }

    fn message(&mut self, id: TypeId, value: &Value) {
        let table = id.table();
        match (table.get(id).form, value) {
            (Form::Struct, Value::Object(members)) => {
                self.members(members, |out, name, value| match table.field(id, name) {
                    Some(field) => out.field(field, value),
                    None => out.plain(value),
                });
            }
            (Form::SchemaOrArray | Form::SchemaOrBool | Form::SchemaOrStringArray, value) => {
                self.schema_or(id, value);
            }
            (_, value) => self.plain(value),
        }
    }

    /// Encodes a JSON schema, or one of the other types that may stand in its place.
    fn schema_or(&mut self, id: TypeId, value: &Value) {
        let schema = id.table().field(id, "schema").map(|field| field.value);
        match (schema, value) {
            (Some(FieldValue::Message(schema)), Value::Object(_)) => self.message(schema, value),
            (Some(FieldValue::Message(schema)), Value::Array(items)) => {
                self.list(items, |out, item| match item {
                    Value::Object(_) => out.message(schema, item),
                    other => out.plain(other),
                });
            }
            (_, value) => self.plain(value),
        }
    }

    fn field(&mut self, field: &Field, value: &Value) {
        match (field.shape, value) {
            (Shape::Repeated, Value::Array(items)) => {
                self.list(items, |out, item| out.element(field, item));
            }
            (Shape::Map, Value::Object(members)) => {
                self.members(members, |out, _, value| out.element(field, value));
            }
            (_, value) => self.element(field, value),
        }
    }

    fn element(&mut self, field: &Field, value: &Value) {
        match (field.value, value) {
            (FieldValue::Message(id), value) => self.message(id, value),
            (FieldValue::Double, Value::Number(number)) => {
                self.float(number);
            }
            (FieldValue::Bytes, Value::String(text)) => match decode_base64(text) {
                Ok(bytes) => {
                    self.push(TAG, BASE64);
                    self.bytes(&bytes);
                }
                Err(_) => self.text(text),
            },
            (_, value) => self.plain(value),
        }
    }

    fn list(&mut self, items: &[Value], mut write: impl FnMut(&mut Self, &Value)) {
        self.push_length(ARRAY, items.len());
        for item in items {
            write(self, item);
        }
    }

    /// Encodes a map: shorter keys come first, and equally long ones in the order of their bytes.
    fn members(
        &mut self,
        members: &Map<String, Value>,
        mut write: impl FnMut(&mut Self, &str, &Value),
    ) {
        let mut sorted: Vec<(&String, &Value)> = members.iter().collect();
        sorted.sort_by_key(|(key, _)| (key.len(), key.as_bytes()));
        self.push_length(MAP, sorted.len());
        for (key, value) in sorted {
            self.text(key);
            write(self, key, value);
        }
    }

    /// Encodes a text, which is a byte string.
    fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.push_length(BYTES, bytes.len());
        self.0.extend_from_slice(bytes);
    }

    fn float(&mut self, number: &Number) {
        head::push_float(&mut self.0, number.as_f64().unwrap_or_default());
    }

    fn push_length(&mut self, major: u8, length: usize) {
        self.push(major, length as u64);
    }

    fn push(&mut self, major: u8, number: u64) {
        head::push(&mut self.0, major, number);
    }
}
