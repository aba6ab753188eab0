//! A deserializer of one text, which is borrowed where it can be: the keys and the strings of encodings that are not JSON; and what
//! the deserializers of such encodings share.

use std::borrow::Cow;

use serde::{
    Deserializer,
    de::{IntoDeserializer, Visitor},
};

/// The methods of a deserializer that reads an encoding as a parser of JSON reads a text: each value says what it is, and a
/// newtype is its content.
macro_rules! forward_text_deserializer {
    () => {
        fn deserialize_newtype_struct<V: serde::de::Visitor<'de>>(
            self,
            _name: &'static str,
            visitor: V,
        ) -> Result<V::Value, Self::Error> {
            visitor.visit_newtype_struct(self)
        }

        serde::forward_to_deserialize_any! {
            bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
            tuple_struct map struct identifier
        }
    };
}

pub(crate) use forward_text_deserializer;

/// A text of a document.
pub(crate) struct TextDeserializer<'de>(Cow<'de, str>);

// === impl TextDeserializer ===

impl<'de> TextDeserializer<'de> {
    pub(crate) fn new(text: impl Into<Cow<'de, str>>) -> Self {
        Self(text.into())
    }

    #[cfg(feature = "cbor")]
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// Reads bytes that should be UTF-8. As in Go, invalid ones become replacement characters.
    pub(crate) fn lossy(bytes: &'de [u8]) -> Self {
        match str::from_utf8(bytes) {
            Ok(text) => Self(Cow::Borrowed(text)),
            Err(_) => Self(String::from_utf8_lossy(bytes)),
        }
    }
}

impl<'de> Deserializer<'de> for TextDeserializer<'de> {
    type Error = serde_json::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        match self.0 {
            Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
            Cow::Owned(text) => visitor.visit_string(text),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        visitor.visit_some(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Self::Error> {
        visitor.visit_enum(self.0.into_deserializer())
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        visitor.visit_unit()
    }

    forward_text_deserializer!();
}

/// Visits a number as Go prints it in JSON: one without a fraction is an integer.
#[expect(
    clippy::cast_possible_truncation,
    reason = "it is within the integers that a double holds exactly"
)]
pub(crate) fn visit_double<'de, V: Visitor<'de>>(
    value: f64,
    visitor: V,
) -> Result<V::Value, serde_json::Error> {
    const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() <= EXACT_MAX {
        visitor.visit_i64(value as i64)
    } else {
        visitor.visit_f64(value)
    }
}
