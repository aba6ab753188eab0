//! JSON into protobuf, by the table of Go types.
//!
//! The bytes are those of the generated Go code: fields by number, maps by key, and every field that is no pointer
//! written even if it is zero. Objects are read as any deserializer brings them, so that the text of a stored object
//! becomes protobuf without a tree of values between the two.

use std::{borrow::Cow, collections::BTreeMap, ops::Range};

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Value, value::RawValue};

use super::{
    error::ProtobufError,
    forms,
    wire::{block, double, put_length, varint},
};
use crate::value::schema::{
    Field, FieldValue, Form, Shape, TypeId, TypeTable, decode_base64, types,
};

/// Appends one message, without a length before it.
pub(super) fn message<'de>(
    id: TypeId,
    source: impl Deserializer<'de>,
    out: &mut Vec<u8>,
) -> Result<(), ProtobufError> {
    let mut encoder = Encoder::default();
    out.extend_from_slice(encoder.message(id, source)?);
    Ok(())
}

/// An encoder of messages, which keeps its buffers from one to the next.
pub(super) struct Encoder {
    table: &'static TypeTable,
    /// The message that is being written, behind those in which it stands.
    out: Vec<u8>,
    /// The fields of these messages, in the order in which they came.
    parts: Vec<Part>,
    /// The message that is being put in order.
    ordered: Vec<u8>,
    refusal: Option<Refusal>,
}

/// A field that was written.
struct Part {
    field: &'static Field,
    bytes: Range<usize>,
}

/// The reason why a value cannot be written.
enum Refusal {
    /// Its field is not known yet.
    Expected(&'static str),
    Named(ProtobufError),
}

/// The value of a field.
struct FieldSeed<'a> {
    encoder: &'a mut Encoder,
    field: &'static Field,
    part: FieldPart,
}

/// The part of a field that a value is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FieldPart {
    /// All of it.
    Whole,
    /// An item of a list.
    Item,
    /// A value in a map.
    Entry,
}

/// The name of a member, borrowed where it has no escapes.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

/// A message.
struct MessageSeed<'a> {
    encoder: &'a mut Encoder,
    id: TypeId,
}

// === impl Encoder ===

impl Default for Encoder {
    fn default() -> Self {
        Self {
            table: types(),
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
        let written = MessageSeed { encoder: self, id }.deserialize(source);
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

    /// Notes what was expected, and returns an error that says nothing.
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

    /// Puts the fields of a message that begins at `start` in the order of their numbers, with those that did not come.
    fn order(&mut self, id: TypeId, start: usize, first_part: usize) {
        self.ordered.clear();
        let (table, out) = (self.table, &self.out);
        append_fields(table, id, out, &self.parts[first_part..], &mut self.ordered);
        self.parts.truncate(first_part);
        self.out.truncate(start);
        self.out.extend_from_slice(&self.ordered);
    }
}

/// Appends the fields of a type by their numbers: those of `parts`, and zeros.
fn append_fields(
    table: &'static TypeTable,
    id: TypeId,
    from: &[u8],
    parts: &[Part],
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

fn expected(kind: FieldValue) -> &'static str {
    match kind {
        FieldValue::String => "a string",
        FieldValue::Bytes => "base64",
        FieldValue::Bool => "a boolean",
        FieldValue::Int32 => "a 32-bit integer",
        FieldValue::Int64 => "an integer",
        FieldValue::Double => "a number",
        FieldValue::Message(_) => "an object",
    }
}

// === impl MessageSeed ===

impl<'de> DeserializeSeed<'de> for MessageSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<(), D::Error> {
        let Self { encoder, id } = self;
        match encoder.table.get(id).form {
            Form::Struct => source.deserialize_any(MessageSeed { encoder, id }),
            Form::RawExtension | Form::RawJson => {
                let raw = Box::<RawValue>::deserialize(source)?;
                if raw.get() != "null" {
                    block(1, raw.get().as_bytes(), &mut encoder.out);
                }
                Ok(())
            }
            form => match forms::unfold(form, &Value::deserialize(source)?) {
                Err(expected) => Err(encoder.refuse(expected)),
                Ok(None) => Ok(()),
                // The same type again, by the fields of its message.
                Ok(Some(fields)) => fields
                    .deserialize_any(MessageSeed { encoder, id })
                    .map_err(D::Error::custom),
            },
        }
    }
}

impl<'de> Visitor<'de> for MessageSeed<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        let start = self.encoder.out.len();
        let first_part = self.encoder.parts.len();
        self.encoder.order(self.id, start, first_part);
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let Self { encoder, id } = self;
        let (start, first_part) = (encoder.out.len(), encoder.parts.len());
        let table = encoder.table;
        while let Some(name) = members.next_key::<Name>()? {
            let Some((owner, field)) = table.declared_field(id, &name.0) else {
                members.next_value::<IgnoredAny>()?;
                continue;
            };
            let from = encoder.out.len();
            let seed = FieldSeed {
                encoder,
                field,
                part: FieldPart::Whole,
            };
            if let Err(error) = members.next_value_seed(seed) {
                encoder.name(owner, field);
                return Err(error);
            }
            let bytes = from..encoder.out.len();
            // The last one of a name counts.
            let known = &mut encoder.parts[first_part..];
            match known
                .iter_mut()
                .find(|part| std::ptr::eq(part.field, field))
            {
                Some(part) => part.bytes = bytes,
                None => encoder.parts.push(Part { field, bytes }),
            }
        }
        encoder.order(id, start, first_part);
        Ok(())
    }
}

// === impl FieldSeed ===

impl FieldSeed<'_> {
    /// Returns the number under which the value is written.
    fn number(&self) -> u32 {
        match self.part {
            FieldPart::Entry => 2,
            FieldPart::Whole | FieldPart::Item => self.field.number,
        }
    }

    /// Returns the type of the value, if it is a single one.
    fn kind(&self) -> Option<FieldValue> {
        let is_one = self.part != FieldPart::Whole || self.field.shape == Shape::Single;
        is_one.then_some(self.field.value)
    }

    fn expected(&self) -> &'static str {
        match (self.kind(), self.field.shape) {
            (Some(kind), _) => expected(kind),
            (None, Shape::Map) => "a map",
            (None, _) => "a list",
        }
    }

    fn of(&mut self, part: FieldPart) -> FieldSeed<'_> {
        FieldSeed {
            encoder: self.encoder,
            field: self.field,
            part,
        }
    }

    fn refused<E: Error>(self) -> E {
        let expected = self.expected();
        self.encoder.refuse(expected)
    }

    fn integer<E: Error>(self, value: Option<i64>) -> Result<(), E> {
        let value = match self.kind() {
            Some(FieldValue::Int32) => value.filter(|value| i32::try_from(*value).is_ok()),
            Some(FieldValue::Int64) => value,
            _ => None,
        };
        let Some(value) = value else {
            return Err(self.refused());
        };
        varint(self.number(), value, &mut self.encoder.out);
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for FieldSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<(), D::Error> {
        source.deserialize_option(self)
    }
}

impl<'de> Visitor<'de> for FieldSeed<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
        formatter.write_str(self.expected())
    }

    fn visit_none<E: Error>(self) -> Result<(), E> {
        let number = self.number();
        let Encoder { table, out, .. } = self.encoder;
        match self.part {
            FieldPart::Whole => append_absent(table, self.field, out),
            FieldPart::Item | FieldPart::Entry => {
                append_zero(table, self.field.value, number, out);
            }
        }
        Ok(())
    }

    fn visit_some<D: Deserializer<'de>>(mut self, source: D) -> Result<(), D::Error> {
        let written = match self.kind() {
            Some(FieldValue::Message(id)) => {
                let start = self.encoder.out.len();
                let encoder = &mut *self.encoder;
                let written = MessageSeed { encoder, id }.deserialize(source);
                put_length(self.number(), start, &mut self.encoder.out);
                written
            }
            _ => source.deserialize_any(self.of(self.part)),
        };
        if written.is_err() && self.encoder.refusal.is_none() {
            self.encoder.refusal = Some(Refusal::Expected(self.expected()));
        }
        written
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        if self.kind() != Some(FieldValue::Bool) {
            return Err(self.refused());
        }
        varint(self.number(), i64::from(value), &mut self.encoder.out);
        Ok(())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        if self.kind() == Some(FieldValue::Double) {
            #[expect(
                clippy::cast_precision_loss,
                reason = "a double is what the field holds"
            )]
            return self.visit_f64(value as f64);
        }
        self.integer(Some(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        if self.kind() == Some(FieldValue::Double) {
            #[expect(
                clippy::cast_precision_loss,
                reason = "a double is what the field holds"
            )]
            return self.visit_f64(value as f64);
        }
        self.integer(i64::try_from(value).ok())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        if self.kind() != Some(FieldValue::Double) {
            return Err(self.refused());
        }
        double(self.number(), value, &mut self.encoder.out);
        Ok(())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        let number = self.number();
        match self.kind() {
            Some(FieldValue::String) => block(number, text.as_bytes(), &mut self.encoder.out),
            Some(FieldValue::Bytes) => match decode_base64(text) {
                Ok(bytes) => block(number, &bytes, &mut self.encoder.out),
                Err(_) => return Err(self.refused()),
            },
            _ => return Err(self.refused()),
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
        if self.kind().is_some() || self.field.shape != Shape::Repeated {
            return Err(self.refused());
        }
        while items.next_element_seed(self.of(FieldPart::Item))?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut members: A) -> Result<(), A::Error> {
        if self.kind().is_some() || self.field.shape != Shape::Map {
            return Err(self.refused());
        }
        let start = self.encoder.out.len();
        let mut entries: Vec<(String, Range<usize>)> = Vec::new();
        while let Some(Name(key)) = members.next_key()? {
            let from = self.encoder.out.len();
            block(1, key.as_bytes(), &mut self.encoder.out);
            members.next_value_seed(self.of(FieldPart::Entry))?;
            put_length(self.field.number, from, &mut self.encoder.out);
            entries.push((key.into_owned(), from..self.encoder.out.len()));
        }
        if !entries.is_sorted_by(|(before, _), (after, _)| before < after) {
            // The last one of a key counts.
            let by_key: BTreeMap<_, _> = entries.into_iter().collect();
            let out = &mut self.encoder.out;
            let ordered: Vec<u8> = by_key
                .into_values()
                .flat_map(|bytes| out[bytes].to_vec())
                .collect();
            out.truncate(start);
            out.extend_from_slice(&ordered);
        }
        Ok(())
    }
}
