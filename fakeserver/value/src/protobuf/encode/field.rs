//! Values of fields: one, a list of them, or a map.

use std::{collections::BTreeMap, ops::Range};

use serde::{
    Deserializer,
    de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor},
};

use super::{Encoder, Name, Refusal, append_absent, append_zero, message::MessageSeed};
use crate::{
    protobuf::wire::{block, double, put_length, varint},
    schema::{Field, FieldValue, Shape, decode_base64},
};

/// The value of a field.
pub(super) struct FieldSeed<'a> {
    pub(super) encoder: &'a mut Encoder,
    pub(super) field: &'static Field,
    pub(super) part: FieldPart,
}

/// The part of a field that a value is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FieldPart {
    /// All of it.
    Whole,
    /// An item of a list.
    Item,
    /// A value in a map.
    Entry,
}

/// An entry of a map that was written.
struct Entry {
    key: Range<usize>,
    bytes: Range<usize>,
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
                let seed = MessageSeed {
                    number: Some(self.number()),
                    encoder: self.encoder,
                    id,
                };
                seed.deserialize(source)
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
        let mut entries: Vec<Entry> = Vec::new();
        while let Some(Name(key)) = members.next_key()? {
            let from = self.encoder.out.len();
            block(1, key.as_bytes(), &mut self.encoder.out);
            let key_end = self.encoder.out.len();
            members.next_value_seed(self.of(FieldPart::Entry))?;
            let value_length = self.encoder.out.len() - key_end;
            put_length(self.field.number, from, &mut self.encoder.out);
            let end = self.encoder.out.len();
            let key_end = end - value_length;
            entries.push(Entry {
                key: key_end - key.len()..key_end,
                bytes: from..end,
            });
        }
        let out = &mut self.encoder.out;
        if !entries.is_sorted_by(|before, after| out[before.key.clone()] < out[after.key.clone()]) {
            let mut ordered = Vec::with_capacity(out.len() - start);
            // The last one of a key counts.
            let by_key = entries
                .into_iter()
                .map(|entry| (&out[entry.key], entry.bytes));
            for bytes in by_key.collect::<BTreeMap<_, _>>().into_values() {
                ordered.extend_from_slice(&out[bytes]);
            }
            out.truncate(start);
            out.extend_from_slice(&ordered);
        }
        Ok(())
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
