//! JSON into protobuf, by the table of Go types.
//!
//! The bytes are those of the generated Go code: fields by number, maps by key, and every field that is no pointer
//! written even if it is zero. Objects are read as any deserializer brings them, so that the text of a stored object
//! becomes protobuf without a tree of values between the two.

mod field;
mod message;
mod form;

use std::{borrow::Cow, ops::Range};

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, Error},
};

use self::message::MessageSeed;
use super::{
    error::ProtobufError,
    wire::{block, double, put_length, varint},
};
use crate::schema::{Field, FieldValue, Form, Shape, TypeId, TypeTable};

/// Appends one message, without a length before it.
pub(super) fn message<'de>(
    id: TypeId,
    source: impl Deserializer<'de>,
    out: &mut Vec<u8>,
) -> Result<(), ProtobufError> {
    let mut encoder = Encoder::new(id.table());
    out.extend_from_slice(encoder.message(id, source)?);
    Ok(())
}

/// An encoder of messages, which keeps its buffers from one to the next.
pub(super) struct Encoder {
    table: &'static TypeTable,
    /// The message that is being written, behind those in which it stands.
    out: Vec<u8>,
    /// The fields of these messages, in the order in which they came.
    parts: Vec<FieldSpan>,
    /// The message that is being put in order.
    ordered: Vec<u8>,
    refusal: Option<Refusal>,
}

/// A field that was written.
struct FieldSpan {
    field: &'static Field,
    bytes: Range<usize>,
}

/// The position at which a message begins.
#[derive(Clone, Copy)]
struct MessageStart {
    byte: usize,
    part: usize,
}

/// The reason why a value cannot be written.
enum Refusal {
    /// Its field is not known yet.
    Expected(&'static str),
    Named(ProtobufError),
}

/// The name of a member, borrowed where it has no escapes.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

// === impl Encoder ===

impl Encoder {
    /// Returns an encoder of messages of the types of a table.
    pub(super) fn new(table: &'static TypeTable) -> Self {
        Self {
            table,
            out: Vec::new(),
            parts: Vec::new(),
            ordered: Vec::new(),
            refusal: None,
        }
    }
}

impl Encoder {
    /// Writes one message, without a length before it.
    pub(super) fn message<'de>(
        &mut self,
        id: TypeId,
        source: impl Deserializer<'de>,
    ) -> Result<&[u8], ProtobufError> {
        self.out.clear();
        self.parts.clear();
        self.refusal = None;
        let seed = MessageSeed {
            encoder: self,
            id,
            number: None,
        };
        let written = seed.deserialize(source);
        if written.is_ok() {
            return Ok(&self.out);
        }
        Err(match self.refusal.take() {
            Some(Refusal::Named(error)) => error,
            refusal => ProtobufError::Unencodable {
                message: self.table.get(id).name.clone(),
                field: String::new(),
                expected: match refusal {
                    Some(Refusal::Expected(expected)) => expected,
                    _ => "an object",
                },
            },
        })
    }

    /// Notes the expected type, and returns an error without a message.
    fn refuse<E: Error>(&mut self, expected: &'static str) -> E {
        self.refusal = Some(Refusal::Expected(expected));
        E::custom("")
    }

    /// Names the field of a refusal, unless an inner one is named already.
    fn name(&mut self, id: TypeId, field: &Field) {
        if let Some(Refusal::Expected(expected)) = self.refusal {
            self.refusal = Some(Refusal::Named(ProtobufError::Unencodable {
                message: self.table.get(id).name.clone(),
                field: field.name.clone(),
                expected,
            }));
        }
    }

    /// Puts the fields of a message in the order of their numbers, with those that did not come, behind its number and length.
    fn order(&mut self, id: TypeId, began: MessageStart, number: Option<u32>) {
        self.ordered.clear();
        let (table, out) = (self.table, &self.out);
        append_fields(table, id, out, &self.parts[began.part..], &mut self.ordered);
        self.parts.truncate(began.part);
        self.out.truncate(began.byte);
        match number {
            Some(number) => block(number, &self.ordered, &mut self.out),
            None => self.out.extend_from_slice(&self.ordered),
        }
    }

    fn begin(&self) -> MessageStart {
        MessageStart {
            byte: self.out.len(),
            part: self.parts.len(),
        }
    }
}

/// Appends the fields of a type by their numbers: those of `parts`, and zeros.
fn append_fields(
    table: &'static TypeTable,
    id: TypeId,
    from: &[u8],
    parts: &[FieldSpan],
    out: &mut Vec<u8>,
) {
    for field in table.get(id).wire_fields() {
        if let (FieldValue::Message(inner), true) = (field.value, field.inline) {
            let start = out.len();
            append_fields(table, inner, from, parts, out);
            put_length(field.number, start, out);
            continue;
        }
        match parts.iter().find(|part| std::ptr::eq(part.field, field)) {
            Some(part) => out.extend_from_slice(&from[part.bytes.clone()]),
            None => append_absent(table, field, out),
        }
    }
}

/// Appends a field that is absent.
fn append_absent(table: &'static TypeTable, field: &Field, out: &mut Vec<u8>) {
    let is_nil = field.pointer || field.value == FieldValue::Bytes;
    if field.shape == Shape::Single && !is_nil {
        append_zero(table, field.value, field.number, out);
    }
}

/// Appends the zero value of a field.
fn append_zero(table: &'static TypeTable, kind: FieldValue, number: u32, out: &mut Vec<u8>) {
    match kind {
        FieldValue::String | FieldValue::Bytes => block(number, b"", out),
        FieldValue::Bool | FieldValue::Int32 | FieldValue::Int64 => varint(number, 0, out),
        FieldValue::Double => double(number, 0.0, out),
        FieldValue::Message(id) => {
            let start = out.len();
            match table.get(id).form {
                Form::Struct
                | Form::StringList
                | Form::IntOrString
                | Form::SchemaOrArray
                | Form::SchemaOrBool
                | Form::SchemaOrStringArray => append_fields(table, id, &[], &[], out),
                Form::Quantity => block(1, b"0", out),
                Form::Time | Form::MicroTime | Form::RawExtension | Form::RawJson => {}
            }
            put_length(number, start, out);
        }
    }
}
