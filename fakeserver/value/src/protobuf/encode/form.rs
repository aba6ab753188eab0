//! Messages of types that JSON does not show as objects of their fields: times, quantities and the like.

use serde::{
    Deserialize, Deserializer,
    de::{
        Error, MapAccess, SeqAccess, Visitor,
        value::{MapAccessDeserializer, SeqAccessDeserializer},
    },
};
use serde_json::Value;

use super::{Encoder, message::MessageSeed};
use crate::{
    protobuf::{
        forms,
        wire::{block, varint},
    },
    schema::{Form, Precision, TypeId},
};

/// A message of a type that JSON does not show as an object of its fields.
pub(super) struct FormSeed<'a> {
    pub(super) encoder: &'a mut Encoder,
    pub(super) id: TypeId,
}

// === impl FormSeed ===

impl FormSeed<'_> {
    /// Writes a value by the fields of its message.
    fn unfolded<E: Error>(self, value: &Value) -> Result<(), E> {
        let Self { encoder, id } = self;
        match forms::unfold(encoder.table.get(id).form, value) {
            Err(expected) => Err(encoder.refuse(expected)),
            Ok(None) => Ok(()),
            Ok(Some(fields)) => {
                let seed = MessageSeed {
                    encoder,
                    id,
                    number: None,
                };
                fields.deserialize_any(seed).map_err(E::custom)
            }
        }
    }
}

impl<'de> Visitor<'de> for FormSeed<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
        formatter.write_str("a value")
    }

    /// Writes times and quantities, of which objects have many, without a value of each.
    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        let Self { encoder, id } = self;
        let precision = match encoder.table.get(id).form {
            Form::Time => Precision::Seconds,
            Form::MicroTime => Precision::Micros,
            Form::Quantity => {
                block(1, text.as_bytes(), &mut encoder.out);
                return Ok(());
            }
            _ => return FormSeed { encoder, id }.unfolded(&Value::from(text)),
        };
        let (seconds, nanos) =
            forms::since_epoch(text, precision).map_err(|expected| encoder.refuse(expected))?;
        varint(1, seconds, &mut encoder.out);
        varint(2, i64::from(nanos), &mut encoder.out);
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.unfolded(&Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.unfolded(&value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.unfolded(&value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.unfolded(&value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        self.unfolded(&value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<(), A::Error> {
        self.unfolded(&Value::deserialize(SeqAccessDeserializer::new(items))?)
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<(), A::Error> {
        self.unfolded(&Value::deserialize(MapAccessDeserializer::new(members))?)
    }
}
