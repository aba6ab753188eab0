//! Fields of protobuf, each with its key.

use prost::encoding::{WireType, encode_key, encode_varint};

/// Appends a field of bytes.
pub(super) fn block(number: u32, bytes: &[u8], out: &mut Vec<u8>) {
    encode_key(number, WireType::LengthDelimited, out);
    encode_varint(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

/// Inserts a key and a length before the bytes that were written since `start`.
pub(super) fn put_length(number: u32, start: usize, out: &mut Vec<u8>) {
    let end = out.len();
    encode_key(number, WireType::LengthDelimited, out);
    encode_varint((end - start) as u64, out);
    let head = out.len() - end;
    out[start..].rotate_right(head);
}

/// Appends an integer. A negative one takes ten bytes, as in Go.
#[expect(
    clippy::cast_sign_loss,
    reason = "protobuf writes negative numbers as their two's complement"
)]
pub(super) fn varint(number: u32, value: i64, out: &mut Vec<u8>) {
    encode_key(number, WireType::Varint, out);
    encode_varint(value as u64, out);
}

/// Appends a floating-point number.
pub(super) fn double(number: u32, value: f64, out: &mut Vec<u8>) {
    encode_key(number, WireType::SixtyFourBit, out);
    out.extend_from_slice(&value.to_le_bytes());
}
