//! Puts the fields of a message in the order in which they are decoded, where they are not.

use std::borrow::Cow;

use super::{
    check::{Order, check},
    error::MalformedProtobuf,
    reader::{Reader, Wire},
    table::{Kind, MessageId, Shape, message},
};

/// Checks that bytes are a message, and returns one that says the same with fields by number, each once: the bytes themselves
/// if they are that, as those of API servers.
pub(crate) fn checked(id: MessageId, bytes: &[u8]) -> Result<Cow<'_, [u8]>, MalformedProtobuf> {
    Ok(match check(id, bytes)? {
        Order::ByNumber => Cow::Borrowed(bytes),
        Order::Other => Cow::Owned(sorted(id, bytes)),
    })
}

/// An encoded field: its number, its tag and value, and its value's block.
struct EncodedField<'a> {
    number: u32,
    whole: &'a [u8],
    block: Option<&'a [u8]>,
}

/// Sorts a message that was checked. Of a value that is there twice, the last counts; messages are merged.
fn sorted(id: MessageId, bytes: &[u8]) -> Vec<u8> {
    let message = message(id);
    let mut out = Vec::with_capacity(bytes.len());
    let mut written = fields_of(bytes);
    written.sort_by_key(|field| field.number);
    for same in written.chunk_by(|a, b| a.number == b.number) {
        let number = same[0].number;
        let Some(place) = message.place(number) else {
            continue;
        };
        let field = message.field(place);
        let inner = match field.kind {
            Kind::Message(inner) => Some(inner),
            _ => None,
        };
        let blocks = same.iter().filter_map(|field| field.block);
        match (field.shape, inner) {
            (Shape::Map, _) => {
                for block in blocks {
                    push_block(number, &sorted_entry(inner, block), &mut out);
                }
            }
            (Shape::Repeated, Some(inner)) => {
                for block in blocks {
                    push_block(number, &sorted(inner, block), &mut out);
                }
            }
            (Shape::Single | Shape::Inline, Some(inner)) => {
                let merged: Vec<u8> = blocks.flatten().copied().collect();
                push_block(number, &sorted(inner, &merged), &mut out);
            }
            (Shape::Repeated, None) => {
                for field in same {
                    out.extend_from_slice(field.whole);
                }
            }
            (Shape::Single | Shape::Inline, None) => {
                let last = same.last().map_or(&[][..], |field| field.whole);
                out.extend_from_slice(last);
            }
        }
    }
    out
}

/// Sorts an entry of a map.
fn sorted_entry(value: Option<MessageId>, bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let written = fields_of(bytes);
    let last = |number| written.iter().rfind(|field| field.number == number);
    if let Some(key) = last(1) {
        out.extend_from_slice(key.whole);
    }
    match (last(2), value) {
        (Some(field), Some(inner)) => {
            push_block(2, &sorted(inner, field.block.unwrap_or_default()), &mut out);
        }
        (Some(field), None) => out.extend_from_slice(field.whole),
        (None, _) => {}
    }
    out
}

/// The fields of a message that was checked.
fn fields_of(bytes: &[u8]) -> Vec<EncodedField<'_>> {
    let mut reader = Reader::new(bytes);
    let mut fields = Vec::new();
    while !reader.is_empty() {
        let before = reader.rest();
        let Ok((number, wire)) = reader.tag() else {
            break;
        };
        let value = reader;
        if reader.skip(wire).is_err() {
            break;
        }
        let block = (wire == Wire::Block).then(|| value.clone().block().unwrap_or_default());
        fields.push(EncodedField {
            number,
            whole: &before[..before.len() - reader.rest().len()],
            block,
        });
    }
    fields
}

fn push_block(number: u32, block: &[u8], out: &mut Vec<u8>) {
    push_varint(u64::from(number) << 3 | 2, out);
    push_varint(block.len() as u64, out);
    out.extend_from_slice(block);
}

fn push_varint(mut value: u64, out: &mut Vec<u8>) {
    loop {
        let [low, ..] = value.to_le_bytes();
        value >>= 7;
        if value == 0 {
            out.push(low & 0x7f);
            return;
        }
        out.push(low | 0x80);
    }
}
