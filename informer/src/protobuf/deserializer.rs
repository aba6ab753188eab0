//! Feeds messages to types that can be decoded from JSON.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{
    Deserializer,
    de::{Error as _, Visitor, value::MapAccessDeserializer},
};

use super::{
    fields::{Elements, Entries, Fields, Run},
    special::{IntOrString, Precision, Time, block_of, integers},
    table::{Form, Message, MessageId, message},
};
use crate::serde_text::{TextDeserializer, forward_text_deserializer, visit_double};

/// A deserializer of a message that was [checked](super::checked).
pub(crate) struct MessageDeserializer<'de> {
    message: &'static Message,
    bytes: &'de [u8],
    /// True if it is a part of another object: then JSON has its type if it is an object itself.
    is_part: bool,
}

/// A value of a field.
pub(super) enum Value<'de> {
    Null,
    Text(&'de [u8]),
    Bool(bool),
    Int(i64),
    Double(f64),
    Bytes(&'de [u8]),
    Message(MessageDeserializer<'de>),
    List(Run<'de>),
    Map(Run<'de>),
}

// === impl MessageDeserializer ===

impl<'de> MessageDeserializer<'de> {
    /// Reads a message that was checked.
    pub(crate) fn new(id: MessageId, bytes: &'de [u8]) -> Self {
        Self {
            message: message(id),
            bytes,
            is_part: false,
        }
    }

    /// Reads a message that is a part of another object.
    pub(super) fn part(id: MessageId, bytes: &'de [u8]) -> Self {
        Self {
            is_part: true,
            ..Self::new(id, bytes)
        }
    }

    fn fields(&self) -> Fields<'de> {
        let fields = Fields::new(self.message, self.bytes);
        match self.message.api_version {
            Some(api_version) if self.is_part => fields.with_type(api_version, self.message.name),
            _ => fields,
        }
    }

    /// Returns whether JSON has null in place of the message.
    pub(super) fn is_null(&self) -> bool {
        match self.message.form {
            Form::Time | Form::MicroTime => Time::read(self.bytes).is_none(),
            Form::Json => matches!(block_of(self.bytes, 1), [] | b"null"),
            Form::Either => self.bytes.is_empty(),
            _ => false,
        }
    }

    fn time<V: Visitor<'de>>(
        self,
        precision: Precision,
        visitor: V,
    ) -> Result<V::Value, serde_json::Error> {
        match Time::read(self.bytes) {
            Some(time) => visitor.visit_string(time.print(precision)?),
            None => visitor.visit_unit(),
        }
    }

    /// Reads the JSON in the first field.
    fn json<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, serde_json::Error> {
        let bytes = block_of(self.bytes, 1);
        if bytes.is_empty() {
            return visitor.visit_unit();
        }
        let text = str::from_utf8(bytes).map_err(serde_json::Error::custom)?;
        let mut json = serde_json::Deserializer::from_str(text);
        let value = json.deserialize_any(visitor)?;
        json.end()?;
        Ok(value)
    }

    fn quantity<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, serde_json::Error> {
        match block_of(self.bytes, 1) {
            [] => visitor.visit_borrowed_str("0"),
            text => TextDeserializer::lossy(text).deserialize_any(visitor),
        }
    }

    /// Reads the list in the field at `place`.
    fn list<V: Visitor<'de>>(self, place: u8, visitor: V) -> Result<V::Value, serde_json::Error> {
        let elements = Elements::new(Run::find(self.message.field(place), self.bytes));
        visitor.visit_seq(elements)
    }

    /// Reads the message in the field at `place`; `None` if there is none.
    fn inner(&self, place: u8) -> Option<Value<'de>> {
        let run = Run::find(self.message.field(place), self.bytes);
        Elements::new(run).next().ok().flatten()
    }

    /// Reads the list in the second field, or else the message in the first.
    fn either<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, serde_json::Error> {
        let list = Run::find(self.message.field(1), self.bytes);
        if list.len() > 0 {
            return visitor.visit_seq(Elements::new(list));
        }
        match self.inner(0) {
            Some(schema) => schema.deserialize_any(visitor),
            None => visitor.visit_unit(),
        }
    }

    /// Reads the message in the second field, or else the boolean in the first.
    fn schema_or_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, serde_json::Error> {
        match self.inner(1) {
            Some(schema) => schema.deserialize_any(visitor),
            None => visitor.visit_bool(integers(self.bytes)[0] != 0),
        }
    }
}

impl<'de> Deserializer<'de> for MessageDeserializer<'de> {
    type Error = serde_json::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        match self.message.form {
            Form::Fields => visitor.visit_map(self.fields()),
            Form::Time => self.time(Precision::Seconds, visitor),
            Form::MicroTime => self.time(Precision::Micros, visitor),
            Form::Quantity => self.quantity(visitor),
            Form::IntOrString => match IntOrString::read(self.bytes) {
                IntOrString::Int(number) => visitor.visit_i64(number),
                IntOrString::String(text) => TextDeserializer::lossy(text).deserialize_any(visitor),
            },
            Form::Json => self.json(visitor),
            Form::List => self.list(0, visitor),
            Form::Either => self.either(visitor),
            Form::SchemaOrBool => self.schema_or_bool(visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        if self.is_null() {
            visitor.visit_none()
        } else {
            visitor.visit_some(self)
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        match self.message.form {
            Form::Fields => {
                MapAccessDeserializer::new(self.fields()).deserialize_enum(name, variants, visitor)
            }
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        visitor.visit_unit()
    }

    forward_text_deserializer!();
}

// === impl Value ===

impl<'de> Deserializer<'de> for Value<'de> {
    type Error = serde_json::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        match self {
            Self::Null => visitor.visit_unit(),
            Self::Text(text) => TextDeserializer::lossy(text).deserialize_any(visitor),
            Self::Bool(value) => visitor.visit_bool(value),
            Self::Int(value) => visitor.visit_i64(value),
            Self::Double(value) => visit_double(value, visitor),
            Self::Bytes(bytes) => visitor.visit_string(STANDARD.encode(bytes)),
            Self::Message(message) => message.deserialize_any(visitor),
            Self::List(run) => visitor.visit_seq(Elements::new(run)),
            Self::Map(run) => visitor.visit_map(Entries::new(run)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        match self {
            Self::Null => visitor.visit_none(),
            Self::Message(message) => message.deserialize_option(visitor),
            value => visitor.visit_some(value),
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        match self {
            Self::Text(text) => {
                TextDeserializer::lossy(text).deserialize_enum(name, variants, visitor)
            }
            Self::Message(message) => message.deserialize_enum(name, variants, visitor),
            value => value.deserialize_any(visitor),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        visitor.visit_unit()
    }

    forward_text_deserializer!();
}
