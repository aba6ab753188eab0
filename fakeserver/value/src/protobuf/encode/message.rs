//! Messages: the members of a JSON object become fields in the order of their numbers.

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, Error, IgnoredAny, MapAccess, Visitor},
};
use serde_json::value::RawValue;

use super::{
    Encoder, FieldSpan, Name,
    field::{FieldPart, FieldSeed},
    form::FormSeed,
};
use crate::{
    protobuf::wire::{block, put_length},
    schema::{Form, TypeId},
};

/// A message.
pub(super) struct MessageSeed<'a> {
    pub(super) encoder: &'a mut Encoder,
    pub(super) id: TypeId,
    /// The number under which it is written, behind which its length stands; none for the outermost.
    pub(super) number: Option<u32>,
}

// === impl MessageSeed ===

impl<'de> DeserializeSeed<'de> for MessageSeed<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<(), D::Error> {
        let form = self.encoder.table.get(self.id).form;
        if form == Form::Struct {
            return source.deserialize_any(self);
        }
        let Self {
            encoder,
            id,
            number,
        } = self;
        let start = encoder.out.len();
        let written = match form {
            Form::RawExtension | Form::RawJson => {
                let raw = Box::<RawValue>::deserialize(source)?;
                if raw.get() != "null" {
                    block(1, raw.get().as_bytes(), &mut encoder.out);
                }
                Ok(())
            }
            _ => source.deserialize_any(FormSeed { encoder, id }),
        };
        if let Some(number) = number {
            put_length(number, start, &mut encoder.out);
        }
        written
    }
}

impl<'de> Visitor<'de> for MessageSeed<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        let began = self.encoder.begin();
        self.encoder.order(self.id, began, self.number);
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let Self {
            encoder,
            id,
            number,
        } = self;
        let began = encoder.begin();
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
            let spans = &mut encoder.parts[began.part..];
            match spans
                .iter_mut()
                .find(|part| std::ptr::eq(part.field, field))
            {
                Some(part) => part.bytes = bytes,
                None => encoder.parts.push(FieldSpan { field, bytes }),
            }
        }
        encoder.order(id, began, number);
        Ok(())
    }
}
