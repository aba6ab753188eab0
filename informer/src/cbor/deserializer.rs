//! Feeds items to types that can be decoded from JSON.

use std::borrow::Cow;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{
    Deserializer,
    de::{DeserializeSeed, Error as _, Visitor, value::MapAccessDeserializer},
};

use super::{
    elements::{Elements, Entries},
    error::MalformedCbor,
    head::{BASE64, Head},
    skipper::{DEPTH_MAX, whole_item},
};
use crate::serde_text::{TextDeserializer, forward_text_deserializer, visit_double};

/// The rest of an item.
#[derive(Debug)]
pub(super) struct Reader<'de> {
    bytes: &'de [u8],
    /// The number of items that may still be in each other.
    depth: usize,
}

/// A deserializer of the next item.
pub(crate) struct CborDeserializer<'a, 'de>(pub(super) &'a mut Reader<'de>);

/// Reads bytes that are one item.
pub(crate) fn read<'de, S: DeserializeSeed<'de>>(
    bytes: &'de [u8],
    seed: S,
) -> serde_json::Result<S::Value> {
    let mut reader = Reader {
        bytes,
        depth: DEPTH_MAX,
    };
    let value = seed.deserialize(CborDeserializer(&mut reader))?;
    if reader.bytes.is_empty() {
        Ok(value)
    } else {
        Err(serde_json::Error::custom(MalformedCbor::Trailing))
    }
}

/// Hands on the entries of a map: the text of the key, and the bytes of the value.
pub(crate) fn each_entry<'de>(
    bytes: &'de [u8],
    mut entry: impl FnMut(&str, &'de [u8]) -> serde_json::Result<()>,
) -> serde_json::Result<()> {
    let mut reader = Reader {
        bytes,
        depth: DEPTH_MAX,
    };
    let Head::Map(mut left) = reader.head().map_err(custom)?.0 else {
        return Err(custom(MalformedCbor::Unexpected));
    };
    while left != Some(0) && !(left.is_none() && reader.take_break()) {
        let key = reader.key().map_err(custom)?;
        let value = reader.bytes;
        reader.skip().map_err(custom)?;
        entry(key.as_str(), &value[..value.len() - reader.bytes.len()])?;
        left = left.map(|left| left - 1);
    }
    Ok(())
}

// === impl Reader ===

impl<'de> Reader<'de> {
    /// Reads the next head that is no tag, and whether it had the tag of base64.
    fn head(&mut self) -> Result<(Head, bool), MalformedCbor> {
        let mut is_base64 = false;
        loop {
            let (head, size) = Head::read(self.bytes)?.ok_or(MalformedCbor::Truncated)?;
            self.bytes = &self.bytes[size..];
            match head {
                Head::Tag(tag) => is_base64 |= tag == BASE64,
                head => return Ok((head, is_base64)),
            }
        }
    }

    /// Returns the next head without taking it, tags left out.
    fn peek(&self) -> Result<Head, MalformedCbor> {
        let mut ahead = Reader { ..*self };
        Ok(ahead.head()?.0)
    }

    /// Takes a break, if it is next.
    pub(super) fn take_break(&mut self) -> bool {
        let is_break = self.bytes.first() == Some(&0xff);
        if is_break {
            self.bytes = &self.bytes[1..];
        }
        is_break
    }

    /// Reads a key of a map.
    pub(super) fn key(&mut self) -> Result<TextDeserializer<'de>, MalformedCbor> {
        match self.head()? {
            (Head::Bytes(length) | Head::Text(length), _) => Ok(match self.string(length)? {
                Cow::Borrowed(bytes) => TextDeserializer::lossy(bytes),
                Cow::Owned(bytes) => TextDeserializer::new(lossy(bytes)),
            }),
            _ => Err(MalformedCbor::Unexpected),
        }
    }

    /// Reads the bytes of a string, or its pieces to the break.
    fn string(&mut self, length: Option<u64>) -> Result<Cow<'de, [u8]>, MalformedCbor> {
        if let Some(length) = length {
            return self.take(length).map(Cow::Borrowed);
        }
        let mut whole = Vec::new();
        while !self.take_break() {
            match self.head()?.0 {
                Head::Bytes(Some(length)) | Head::Text(Some(length)) => {
                    whole.extend_from_slice(self.take(length)?);
                }
                _ => return Err(MalformedCbor::Piece),
            }
        }
        Ok(Cow::Owned(whole))
    }

    fn take(&mut self, length: u64) -> Result<&'de [u8], MalformedCbor> {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let taken = self.bytes.split_at_checked(length);
        let (taken, rest) = taken.ok_or(MalformedCbor::Truncated)?;
        self.bytes = rest;
        Ok(taken)
    }

    pub(super) fn skip(&mut self) -> Result<(), MalformedCbor> {
        let size = whole_item(self.bytes)?;
        self.bytes = &self.bytes[size..];
        Ok(())
    }

    /// Reads what stands in an item.
    fn within<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> serde_json::Result<T>,
    ) -> serde_json::Result<T> {
        let depth = self.depth.checked_sub(1);
        let outer = self.depth;
        self.depth = depth.ok_or_else(|| custom(MalformedCbor::TooDeep))?;
        let value = read(self)?;
        self.depth = outer;
        Ok(value)
    }
}

// === impl CborDeserializer ===

impl<'de> Deserializer<'de> for CborDeserializer<'_, 'de> {
    type Error = serde_json::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        let (head, is_base64) = self.0.head().map_err(custom)?;
        match head {
            Head::Positive(value) => visitor.visit_u64(value),
            Head::Negative(value) => match i64::try_from(value) {
                Ok(value) => visitor.visit_i64(!value),
                Err(_) => Err(custom(MalformedCbor::Number)),
            },
            Head::Bytes(length) | Head::Text(length) => {
                match self.0.string(length).map_err(custom)? {
                    bytes if is_base64 => visitor.visit_string(STANDARD.encode(bytes)),
                    Cow::Borrowed(bytes) => TextDeserializer::lossy(bytes).deserialize_any(visitor),
                    Cow::Owned(bytes) => visitor.visit_string(lossy(bytes)),
                }
            }
            Head::Array(length) => self.0.within(|reader| {
                let mut elements = Elements::new(reader, length);
                let value = visitor.visit_seq(&mut elements)?;
                elements.finish()?;
                Ok(value)
            }),
            Head::Map(length) => self.0.within(|reader| {
                let mut entries = Entries::new(reader, length);
                let value = visitor.visit_map(&mut entries)?;
                entries.finish()?;
                Ok(value)
            }),
            Head::Bool(value) => visitor.visit_bool(value),
            Head::Null => visitor.visit_unit(),
            Head::Float(value) => visit_double(value, visitor),
            Head::Tag(_) | Head::Simple | Head::Break => Err(custom(MalformedCbor::Unexpected)),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        if self.0.peek().map_err(custom)? == Head::Null {
            self.0.head().map_err(custom)?;
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
        if !matches!(self.0.peek().map_err(custom)?, Head::Map(_)) {
            let text = self.0.key().map_err(custom)?;
            return text.deserialize_enum(name, variants, visitor);
        }
        let Head::Map(length) = self.0.head().map_err(custom)?.0 else {
            return Err(custom(MalformedCbor::Unexpected));
        };
        self.0.within(|reader| {
            let mut entries = Entries::new(reader, length);
            let value = MapAccessDeserializer::new(&mut entries)
                .deserialize_enum(name, variants, visitor)?;
            entries.finish()?;
            Ok(value)
        })
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Self::Error> {
        self.0.skip().map_err(custom)?;
        visitor.visit_unit()
    }

    forward_text_deserializer!();
}

pub(super) fn custom(defect: MalformedCbor) -> serde_json::Error {
    serde_json::Error::custom(defect)
}

/// Reads bytes that should be UTF-8. As in Go, invalid ones become replacement characters.
fn lossy(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
