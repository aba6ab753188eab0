//! Reads tags and values of the protobuf wire format, and tracks the position.

use bytes::Buf as _;
use prost::encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field};

use super::error::ProtobufError;

/// The maximum number of values in a message, nested ones included. The limit bounds the memory that a few bytes can take.
pub(super) const VALUES_MAX: usize = 1_000_000;

/// The rest of a message.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    /// The offset of `bytes` in the body.
    offset: usize,
}

/// A field's number and how its value is written.
#[derive(Clone, Copy)]
pub(super) struct Tag {
    pub(super) number: u32,
    pub(super) wire_type: WireType,
}

/// The message and field being read, for errors.
#[derive(Clone, Copy)]
pub(super) struct FieldContext<'a> {
    pub(super) message: &'a str,
    pub(super) field: &'a str,
}

// === impl Reader ===

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8], offset: usize) -> Reader<'a> {
        Reader { bytes, offset }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub(super) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    pub(super) fn offset(&self) -> usize {
        self.offset
    }

    pub(super) fn tag(&mut self, message: &str) -> Result<Tag, ProtobufError> {
        let place = FieldContext {
            message,
            field: "?",
        };
        let (number, wire_type) =
            self.take(place, |bytes| decode_key(bytes).map_err(|_| "invalid tag"))?;
        Ok(Tag { number, wire_type })
    }

    pub(super) fn varint(
        &mut self,
        tag: Tag,
        place: FieldContext<'_>,
    ) -> Result<u64, ProtobufError> {
        self.expect(tag, WireType::Varint, place)?;
        self.bare_varint(place)
    }

    /// A varint without a tag, as in packed lists.
    pub(super) fn bare_varint(&mut self, place: FieldContext<'_>) -> Result<u64, ProtobufError> {
        self.take(place, |bytes| {
            decode_varint(bytes).map_err(|_| "invalid varint")
        })
    }

    pub(super) fn double(
        &mut self,
        tag: Tag,
        place: FieldContext<'_>,
    ) -> Result<f64, ProtobufError> {
        self.expect(tag, WireType::SixtyFourBit, place)?;
        self.bare_double(place)
    }

    /// A double without a tag, as in packed lists.
    pub(super) fn bare_double(&mut self, place: FieldContext<'_>) -> Result<f64, ProtobufError> {
        self.take(place, |bytes| {
            bytes.try_get_f64_le().map_err(|_| "unexpected end")
        })
    }

    /// Reads a length and the bytes behind it: text, bytes, a message or a packed list.
    pub(super) fn block(
        &mut self,
        tag: Tag,
        place: FieldContext<'_>,
    ) -> Result<Reader<'a>, ProtobufError> {
        self.expect(tag, WireType::LengthDelimited, place)?;
        let length = self.bare_varint(place)?;
        let length = usize::try_from(length)
            .ok()
            .filter(|length| *length <= self.bytes.len());
        let Some(length) = length else {
            return Err(self.malformed(place, "unexpected end"));
        };
        let (block, rest) = self.bytes.split_at(length);
        let reader = Reader::new(block, self.offset);
        self.bytes = rest;
        self.offset += length;
        Ok(reader)
    }

    /// Passes over a field that is not known.
    pub(super) fn skip(&mut self, tag: Tag, message: &str) -> Result<(), ProtobufError> {
        let field = tag.number.to_string();
        let place = FieldContext {
            message,
            field: &field,
        };
        self.take(place, |bytes| {
            skip_field(tag.wire_type, tag.number, bytes, DecodeContext::default())
                .map_err(|_| "not to be passed over")
        })
    }

    pub(super) fn malformed(&self, place: FieldContext<'_>, what: &str) -> ProtobufError {
        ProtobufError::Malformed {
            message: place.message.to_owned(),
            field: place.field.to_owned(),
            offset: self.offset,
            what: what.to_owned(),
        }
    }

    fn expect(
        &self,
        tag: Tag,
        wanted: WireType,
        place: FieldContext<'_>,
    ) -> Result<(), ProtobufError> {
        if tag.wire_type == wanted {
            return Ok(());
        }
        let found = tag.wire_type as u8;
        Err(self.malformed(place, &format!("wrong wire type {found}")))
    }

    fn take<T>(
        &mut self,
        place: FieldContext<'_>,
        read: impl FnOnce(&mut &'a [u8]) -> Result<T, &'static str>,
    ) -> Result<T, ProtobufError> {
        let mut rest = self.bytes;
        let value = read(&mut rest).map_err(|what| self.malformed(place, what))?;
        self.offset += self.bytes.len() - rest.len();
        self.bytes = rest;
        Ok(value)
    }
}
