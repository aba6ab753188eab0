//! The fields of a message, the elements of a list and the entries of a map, one by one.

use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess};

use super::{
    deserializer::{MessageDeserializer, Value},
    error::Defect,
    reader::{Reader, Wire},
    special::{narrow, wide},
    table::{Field, Kind, Message, MessageId, Shape, message},
};
use crate::serde_text::TextDeserializer;

/// The fields of a message, as JSON shows them.
pub(super) struct Fields<'de> {
    current: Part<'de>,
    /// The messages around it, whose fields stand in one object with its own.
    outer: Vec<Part<'de>>,
    value: Option<Value<'de>>,
    /// The names and the values of its type, the last one first, where JSON has it.
    named_type: Vec<(&'static str, &'static str)>,
}

/// The rest of a message.
struct Part<'de> {
    message: &'static Message,
    reader: Reader<'de>,
    /// A bit for each field that was there, by its place.
    seen: u64,
    /// The number of absent fields that were looked at.
    nulls: usize,
}

/// The values of a list or a map, which stand behind each other with their tags.
#[derive(Clone, Copy)]
pub(super) struct Run<'de> {
    field: &'static Field,
    bytes: &'de [u8],
    len: usize,
}

/// The elements of a list.
pub(super) struct Elements<'de> {
    field: &'static Field,
    reader: Reader<'de>,
    /// Numbers without tags that are left.
    packed: Reader<'de>,
    left: usize,
}

/// The entries of a map.
pub(super) struct Entries<'de> {
    field: &'static Field,
    reader: Reader<'de>,
    value: Option<Value<'de>>,
    left: usize,
}

// === impl Fields ===

impl<'de> Fields<'de> {
    pub(super) fn new(message: &'static Message, bytes: &'de [u8]) -> Self {
        Self {
            current: Part::new(message, bytes),
            outer: Vec::new(),
            value: None,
            named_type: Vec::new(),
        }
    }

    /// Puts the type in front of the fields.
    pub(super) fn with_type(mut self, api_version: &'static str, kind: &'static str) -> Self {
        self.named_type = vec![("kind", kind), ("apiVersion", api_version)];
        self
    }

    /// Returns the next field that JSON shows.
    fn next(&mut self) -> Result<Option<(&'static str, Value<'de>)>, Defect> {
        if let Some((name, text)) = self.named_type.pop() {
            return Ok(Some((name, Value::Text(text.as_bytes()))));
        }
        loop {
            if self.current.reader.is_empty() {
                if let Some(field) = self.current.next_null() {
                    return Ok(Some((field.name, Value::Null)));
                }
                let Some(outer) = self.outer.pop() else {
                    return Ok(None);
                };
                self.current = outer;
                continue;
            }
            let Some(field) = self.current.next_field()? else {
                continue;
            };
            let value = match field.shape {
                Shape::Inline => {
                    let bytes = self.current.reader.block()?;
                    if let Kind::Message(id) = field.kind {
                        let inner = Part::new(message(id), bytes);
                        self.outer.push(std::mem::replace(&mut self.current, inner));
                    }
                    continue;
                }
                Shape::Single => read(field.kind, &mut self.current.reader)?,
                Shape::Repeated => Value::List(Run::take(field, &mut self.current.reader)?),
                Shape::Map => Value::Map(Run::take(field, &mut self.current.reader)?),
            };
            if !field.omits_zero || !value.is_zero() {
                return Ok(Some((field.name, value)));
            }
        }
    }
}

impl<'de> MapAccess<'de> for Fields<'de> {
    type Error = serde_json::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Self::Error> {
        let next = self.next().map_err(serde_json::Error::custom)?;
        let Some((name, value)) = next else {
            return Ok(None);
        };
        self.value = Some(value);
        seed.deserialize(TextDeserializer::new(name)).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<S::Value, Self::Error> {
        seed.deserialize(self.value.take().unwrap_or(Value::Null))
    }
}

// === impl Part ===

impl<'de> Part<'de> {
    fn new(message: &'static Message, bytes: &'de [u8]) -> Self {
        Self {
            message,
            reader: Reader::new(bytes),
            seen: 0,
            nulls: 0,
        }
    }

    /// Reads the tag of the next field; `None` if the field is not in the table, and was stepped over.
    fn next_field(&mut self) -> Result<Option<&'static Field>, Defect> {
        let before = self.reader;
        let (number, wire) = self.reader.tag()?;
        let Some(place) = self.message.place(number) else {
            self.reader.skip(wire)?;
            return Ok(None);
        };
        self.seen |= 1 << (place & 63);
        let field = self.message.field(place);
        if matches!(field.shape, Shape::Repeated | Shape::Map) {
            // A run begins with its first tag.
            self.reader = before;
        }
        Ok(Some(field))
    }

    /// Returns the next absent field that JSON shows as null.
    fn next_null(&mut self) -> Option<&'static Field> {
        loop {
            let place = *self.message.nullable.get(self.nulls)?;
            self.nulls += 1;
            if self.seen & (1 << (place & 63)) == 0 {
                return Some(self.message.field(place));
            }
        }
    }
}

// === impl Run ===

impl<'de> Run<'de> {
    /// Takes the values of `field` that stand here behind each other.
    fn take(field: &'static Field, reader: &mut Reader<'de>) -> Result<Self, Defect> {
        let begin = reader.rest();
        let mut len = 0;
        let mut end = *reader;
        loop {
            let mut next = end;
            if next.is_empty() {
                break;
            }
            let (number, wire) = next.tag()?;
            if number != field.number {
                break;
            }
            next.skip(wire)?;
            end = next;
            len += 1;
        }
        *reader = end;
        let bytes = &begin[..begin.len() - end.rest().len()];
        Ok(Self { field, bytes, len })
    }

    /// Finds the values of `field` in a message that was checked.
    pub(super) fn find(field: &'static Field, bytes: &'de [u8]) -> Self {
        let none = Self {
            field,
            bytes: &[],
            len: 0,
        };
        let mut reader = Reader::new(bytes);
        loop {
            let mut run = reader;
            match reader.tag() {
                Ok((number, _)) if number == field.number => {
                    return Self::take(field, &mut run).unwrap_or(none);
                }
                Ok((_, wire)) if reader.skip(wire).is_ok() => {}
                _ => return none,
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }
}

// === impl Elements ===

impl<'de> Elements<'de> {
    pub(super) fn new(run: Run<'de>) -> Self {
        Self {
            field: run.field,
            reader: Reader::new(run.bytes),
            packed: Reader::new(&[]),
            left: run.len,
        }
    }

    /// Returns the next element.
    pub(super) fn next(&mut self) -> Result<Option<Value<'de>>, Defect> {
        loop {
            if !self.packed.is_empty() {
                return read(self.field.kind, &mut self.packed).map(Some);
            }
            if self.reader.is_empty() {
                return Ok(None);
            }
            self.left = self.left.saturating_sub(1);
            let (_, wire) = self.reader.tag()?;
            let is_number = !matches!(
                self.field.kind,
                Kind::String | Kind::Bytes | Kind::Message(_)
            );
            if !is_number || wire != Wire::Block {
                return read(self.field.kind, &mut self.reader).map(Some);
            }
            self.packed = Reader::new(self.reader.block()?);
        }
    }
}

impl<'de> SeqAccess<'de> for Elements<'de> {
    type Error = serde_json::Error;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Self::Error> {
        let next = self.next().map_err(serde_json::Error::custom)?;
        next.map(|value| seed.deserialize(value)).transpose()
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left)
    }
}

// === impl Entries ===

impl<'de> Entries<'de> {
    pub(super) fn new(run: Run<'de>) -> Self {
        Self {
            field: run.field,
            reader: Reader::new(run.bytes),
            value: None,
            left: run.len,
        }
    }

    /// Returns the key and the value of the next entry, either of which may be left out.
    fn next(&mut self) -> Result<Option<(&'de [u8], Value<'de>)>, Defect> {
        if self.reader.is_empty() {
            return Ok(None);
        }
        self.left = self.left.saturating_sub(1);
        self.reader.tag()?;
        let mut entry = Reader::new(self.reader.block()?);
        let (mut key, mut value) = (&[][..], None);
        while !entry.is_empty() {
            match entry.tag()? {
                (1, _) => key = entry.block()?,
                (2, _) => value = Some(read(self.field.kind, &mut entry)?),
                (_, wire) => entry.skip(wire)?,
            }
        }
        Ok(Some((key, value.unwrap_or_else(|| zero(self.field.kind)))))
    }
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = serde_json::Error;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Self::Error> {
        let next = self.next().map_err(serde_json::Error::custom)?;
        let Some((key, value)) = next else {
            return Ok(None);
        };
        self.value = Some(value);
        seed.deserialize(TextDeserializer::lossy(key)).map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<S::Value, Self::Error> {
        seed.deserialize(self.value.take().unwrap_or(Value::Null))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left)
    }
}

// === impl Value ===

impl Value<'_> {
    /// Returns whether this is what Go's types have where nothing was set.
    fn is_zero(&self) -> bool {
        match self {
            Self::Null => true,
            Self::Text(bytes) | Self::Bytes(bytes) => bytes.is_empty(),
            Self::Bool(value) => !value,
            Self::Int(value) => *value == 0,
            Self::Double(value) => value.to_bits() == 0,
            Self::Message(message) => message.is_null(),
            Self::List(run) | Self::Map(run) => run.len == 0,
        }
    }
}

/// Reads the value of a field behind its tag.
fn read<'de>(kind: Kind, reader: &mut Reader<'de>) -> Result<Value<'de>, Defect> {
    Ok(match kind {
        Kind::String => Value::Text(reader.block()?),
        Kind::Bytes => Value::Bytes(reader.block()?),
        Kind::Bool => Value::Bool(reader.varint()? != 0),
        Kind::Int32 => Value::Int(narrow(reader.varint()?)),
        Kind::Int64 => Value::Int(wide(reader.varint()?)),
        Kind::Double => Value::Double(reader.double()?),
        Kind::Message(id) => nested(id, reader.block()?),
    })
}

/// Returns the value of an entry that has none.
fn zero<'de>(kind: Kind) -> Value<'de> {
    match kind {
        Kind::String => Value::Text(&[]),
        Kind::Bytes => Value::Bytes(&[]),
        Kind::Bool => Value::Bool(false),
        Kind::Int32 | Kind::Int64 => Value::Int(0),
        Kind::Double => Value::Double(0.0),
        Kind::Message(id) => nested(id, &[]),
    }
}

fn nested(id: MessageId, bytes: &[u8]) -> Value<'_> {
    Value::Message(MessageDeserializer::part(id, bytes))
}
