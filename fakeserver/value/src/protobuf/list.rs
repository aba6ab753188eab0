//! Lists as protobuf: a message whose items are written one by one.

use fakeserver_versions::KubernetesVersion;
use prost::encoding::{WireType, encode_key, encode_varint};
use serde_json::Value;

use super::{
    encode::{self, Encoder},
    envelope::PREFIX,
    error::ProtobufError,
    wire,
};
use crate::schema::{TypeId, TypeMeta, types_in};

/// The numbers of the fields that every list has.
const METADATA: u32 = 1;
const ITEMS: u32 = 2;

/// An encoder of the items of a list, which are of one type.
pub struct ItemEncoder {
    item: TypeId,
    encoder: Encoder,
}

// === impl ItemEncoder ===

impl ItemEncoder {
    /// Returns an encoder of items of a type.
    pub fn new(item: TypeId) -> Self {
        Self {
            item,
            encoder: Encoder::new(item.table()),
        }
    }

    /// Appends an item, of its JSON.
    ///
    /// # Errors
    /// A value does not fit its field.
    pub fn push_json(&mut self, object: &[u8], out: &mut Vec<u8>) -> Result<(), ProtobufError> {
        // Text that is checked as a whole is not checked string by string.
        let message = if let Ok(object) = std::str::from_utf8(object) {
            let mut source = serde_json::Deserializer::from_str(object);
            self.encoder.message(self.item, &mut source)?
        } else {
            let mut source = serde_json::Deserializer::from_slice(object);
            self.encoder.message(self.item, &mut source)?
        };
        wire::block(ITEMS, message, out);
        Ok(())
    }

    /// Appends an item.
    ///
    /// # Errors
    /// A value does not fit its field.
    pub fn push(&mut self, object: &Value, out: &mut Vec<u8>) -> Result<(), ProtobufError> {
        wire::block(ITEMS, self.encoder.message(self.item, object)?, out);
        Ok(())
    }
}

/// Returns the beginning of a list with its envelope, up to its items: their length stands before them. `metadata` is the
/// `ListMeta`.
///
/// # Errors
/// A value does not fit its field.
pub fn begin_list(
    kubernetes: KubernetesVersion,
    list: &TypeMeta,
    metadata: &Value,
    items_length: usize,
) -> Result<Vec<u8>, ProtobufError> {
    let list_meta = types_in(kubernetes)
        .meta("ListMeta")
        .expect("the table has what every list has");
    let mut body = Vec::new();
    encode::message(list_meta, metadata, &mut body)?;
    let mut before_items = Vec::new();
    wire::block(METADATA, &body, &mut before_items);

    let mut kind = Vec::new();
    wire::block(1, list.api_version.as_bytes(), &mut kind);
    wire::block(2, list.kind.as_bytes(), &mut kind);
    let mut head = PREFIX.to_vec();
    wire::block(1, &kind, &mut head);
    encode_key(2, WireType::LengthDelimited, &mut head);
    encode_varint((before_items.len() + items_length) as u64, &mut head);
    head.extend_from_slice(&before_items);
    Ok(head)
}

/// Returns the end of a list: the encoding and the type of the content, which are written though they are empty.
pub fn end_list() -> Vec<u8> {
    let mut tail = Vec::new();
    wire::block(3, b"", &mut tail);
    wire::block(4, b"", &mut tail);
    tail
}
