//! JSON into protobuf, by the table of Go types.
//!
//! The bytes are those of the generated Go code: fields by number, maps by key, and every field that is no pointer
//! written even if it is zero.

use prost::encoding::{WireType, encode_key, encode_varint};
use serde_json::{Map, Value};

use super::{error::ProtobufError, forms};
use crate::value::schema::{
    Field, FieldValue, Form, Shape, TypeId, TypeTable, decode_base64, types,
};

/// Appends one message, without a length before it.
pub(super) fn message(id: TypeId, value: &Value, out: &mut Vec<u8>) -> Result<(), ProtobufError> {
    Encoder { table: types() }.message(id, value, out)
}

/// Appends a field of bytes.
pub(super) fn block(number: u32, bytes: &[u8], out: &mut Vec<u8>) {
    encode_key(number, WireType::LengthDelimited, out);
    encode_varint(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

struct Encoder {
    table: &'static TypeTable,
}

// === impl Encoder ===

impl Encoder {
    fn message(&self, id: TypeId, value: &Value, out: &mut Vec<u8>) -> Result<(), ProtobufError> {
        let ty = self.table.get(id);
        let refuse = |expected| ProtobufError::Unencodable {
            message: ty.name.clone(),
            field: String::new(),
            expected,
        };
        match (ty.form, value) {
            (Form::Struct, Value::Object(fields)) => self.fields(id, fields, out),
            (Form::Struct, Value::Null) => self.fields(id, &Map::new(), out),
            (Form::Struct, _) => Err(refuse("an object")),
            (Form::RawExtension | Form::RawJson, Value::Null) => Ok(()),
            (Form::RawExtension | Form::RawJson, value) => {
                block(1, value.to_string().as_bytes(), out);
                Ok(())
            }
            (form, value) => match forms::unfold(form, value).map_err(refuse)? {
                Some(fields) => self.fields(id, &fields, out),
                None => Ok(()),
            },
        }
    }

    fn fields(
        &self,
        id: TypeId,
        fields: &Map<String, Value>,
        out: &mut Vec<u8>,
    ) -> Result<(), ProtobufError> {
        let ty = self.table.get(id);
        for field in ty.wire_fields() {
            if let (FieldValue::Message(inner), true) = (field.value, field.inline) {
                let mut body = Vec::new();
                self.fields(inner, fields, &mut body)?;
                block(field.number, &body, out);
                continue;
            }
            let value = fields.get(&field.name).unwrap_or(&Value::Null);
            let written = match field.shape {
                Shape::Single => self.single(field, value, out),
                Shape::Repeated => self.repeated(field, value, out),
                Shape::Map => self.map(field, value, out),
            };
            written.map_err(|error| error.at(&ty.name, &field.name))?;
        }
        Ok(())
    }

    fn single(&self, field: &Field, value: &Value, out: &mut Vec<u8>) -> Result<(), Refusal> {
        let is_nil = value.is_null() && (field.pointer || field.value == FieldValue::Bytes);
        if is_nil {
            return Ok(());
        }
        self.value(field.value, field.number, value, out)
    }

    fn repeated(&self, field: &Field, value: &Value, out: &mut Vec<u8>) -> Result<(), Refusal> {
        let items = match value {
            Value::Null => return Ok(()),
            Value::Array(items) => items,
            _ => return Err(Refusal::Expected("a list")),
        };
        for item in items {
            self.value(field.value, field.number, item, out)?;
        }
        Ok(())
    }

    fn map(&self, field: &Field, value: &Value, out: &mut Vec<u8>) -> Result<(), Refusal> {
        let entries = match value {
            Value::Null => return Ok(()),
            Value::Object(entries) => entries,
            _ => return Err(Refusal::Expected("a map")),
        };
        for (key, value) in entries {
            let mut entry = Vec::new();
            block(1, key.as_bytes(), &mut entry);
            self.value(field.value, 2, value, &mut entry)?;
            block(field.number, &entry, out);
        }
        Ok(())
    }

    /// One value with its tag; null is zero.
    fn value(
        &self,
        kind: FieldValue,
        number: u32,
        value: &Value,
        out: &mut Vec<u8>,
    ) -> Result<(), Refusal> {
        match (kind, value) {
            (FieldValue::Message(id), value) => {
                let mut body = Vec::new();
                self.message(id, value, &mut body)
                    .map_err(Refusal::Nested)?;
                block(number, &body, out);
            }
            (FieldValue::String | FieldValue::Bytes, Value::Null) => block(number, b"", out),
            (FieldValue::String, Value::String(text)) => block(number, text.as_bytes(), out),

            (FieldValue::Bytes, Value::String(text)) => {
                let bytes = decode_base64(text).map_err(|_| Refusal::Expected("base64"))?;
                block(number, &bytes, out);
            }
            (FieldValue::Double, value) => {
                let value = number_or_zero(value, Value::as_f64, "a number")?;
                encode_key(number, WireType::SixtyFourBit, out);
                out.extend_from_slice(&value.to_le_bytes());
            }
            (FieldValue::Bool, value) => {
                let value = number_or_zero(value, Value::as_bool, "a boolean")?;
                varint(number, i64::from(value), out);
            }
            (FieldValue::Int32, value) => {
                let in_range = |value: &Value| i32::try_from(value.as_i64()?).ok();
                varint(
                    number,
                    number_or_zero(value, in_range, "a 32-bit integer")?.into(),
                    out,
                );
            }
            (FieldValue::Int64, value) => {
                varint(
                    number,
                    number_or_zero(value, Value::as_i64, "an integer")?,
                    out,
                );
            }
            (FieldValue::String, _) => return Err(Refusal::Expected("a string")),
            (FieldValue::Bytes, _) => return Err(Refusal::Expected("base64")),
        }
        Ok(())
    }
}

/// The reason why a value cannot be written, before its field is known.
enum Refusal {
    Expected(&'static str),
    Nested(ProtobufError),
}

// === impl Refusal ===

impl Refusal {
    /// Names the field, unless an inner one is named already.
    fn at(self, message: &str, field: &str) -> ProtobufError {
        let expected = match self {
            Refusal::Nested(ProtobufError::Unencodable {
                field, expected, ..
            }) if field.is_empty() => expected,
            Refusal::Nested(error) => return error,
            Refusal::Expected(expected) => expected,
        };
        ProtobufError::Unencodable {
            message: message.to_owned(),
            field: field.to_owned(),
            expected,
        }
    }
}

fn number_or_zero<T: Default>(
    value: &Value,
    read: impl FnOnce(&Value) -> Option<T>,
    expected: &'static str,
) -> Result<T, Refusal> {
    match value {
        Value::Null => Ok(T::default()),
        value => read(value).ok_or(Refusal::Expected(expected)),
    }
}

/// A negative number takes ten bytes, as in Go.
#[expect(
    clippy::cast_sign_loss,
    reason = "protobuf writes negative numbers as their two's complement"
)]
fn varint(number: u32, value: i64, out: &mut Vec<u8>) {
    encode_key(number, WireType::Varint, out);
    encode_varint(value as u64, out);
}
