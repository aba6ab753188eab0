//! Lists as protobuf: a message whose items are written one by one.

use prost::encoding::{WireType, encode_key, encode_varint};
use serde_json::Value;

use super::{encode, envelope::PREFIX, error::ProtobufError};
use crate::value::schema::{TypeId, TypeMeta, types};

/// A piece is handed on when it has become this large.
const PIECE_BYTES: usize = 64 << 10;
/// The numbers of the fields that every list has.
const METADATA: u32 = 1;
const ITEMS: u32 = 2;

/// Writes a list of objects of one type with its envelope, in pieces that follow each other.
///
/// `metadata` is the `ListMeta`. An item lives as a value only while it is written.
///
/// # Errors
/// A value does not fit its field.
///
/// # Memory
/// The pieces are the whole list: its length stands before it.
pub fn encode_list(
    item: TypeId,
    list: &TypeMeta,
    metadata: &Value,
    items: impl Iterator<Item = Value>,
) -> Result<Vec<Vec<u8>>, ProtobufError> {
    let list_meta = types()
        .meta("ListMeta")
        .expect("the table has what every list has");
    let mut pieces = Vec::new();
    let mut body = Vec::new();
    encode::message(list_meta, metadata, &mut body)?;
    let mut piece = Vec::new();
    encode::block(METADATA, &body, &mut piece);
    for object in items {
        body.clear();
        encode::message(item, &object, &mut body)?;
        encode::block(ITEMS, &body, &mut piece);
        if piece.len() >= PIECE_BYTES {
            pieces.push(std::mem::take(&mut piece));
        }
    }
    let length: usize = pieces.iter().map(Vec::len).sum::<usize>() + piece.len();
    pieces.push(piece);

    let mut kind = Vec::new();
    encode::block(1, list.api_version.as_bytes(), &mut kind);
    encode::block(2, list.kind.as_bytes(), &mut kind);
    let mut head = PREFIX.to_vec();
    encode::block(1, &kind, &mut head);
    encode_key(2, WireType::LengthDelimited, &mut head);
    encode_varint(length as u64, &mut head);
    pieces.insert(0, head);
    // The encoding and the type of the content are written though they are empty.
    let mut tail = Vec::new();
    encode::block(3, b"", &mut tail);
    encode::block(4, b"", &mut tail);
    pieces.push(tail);
    Ok(pieces)
}
