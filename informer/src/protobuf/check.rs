//! Checks a message before it is decoded: its fields, to the last byte.

use super::{
    error::{Defect, MalformedProtobuf},
    reader::{Reader, Wire},
    table::{Field, Kind, MessageId, Shape, message},
};

/// The largest number of messages in each other: a schema in a schema in a schema.
pub(super) const DEPTH_MAX: u8 = 64;

/// The order of a message's fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// As API servers write them: by number, each once, lists and maps together.
    ByNumber,
    /// Any other that protobuf allows.
    Other,
}

/// Checks that bytes are a message, and returns the order of its fields.
pub(super) fn check(id: MessageId, bytes: &[u8]) -> Result<Order, MalformedProtobuf> {
    check_at(id, bytes, DEPTH_MAX)
}

fn check_at(id: MessageId, bytes: &[u8], depth: u8) -> Result<Order, MalformedProtobuf> {
    let message = message(id);
    let malformed = |field, what| MalformedProtobuf {
        message: message.title(),
        field,
        what,
    };
    let mut order = Order::ByNumber;
    let mut reader = Reader::new(bytes);
    let mut last = 0;
    while !reader.is_empty() {
        let (number, wire) = reader.tag().map_err(|what| malformed("", what))?;
        let Some(place) = message.place(number) else {
            reader.skip(wire).map_err(|what| malformed("", what))?;
            continue;
        };
        let field = message.field(place);
        let malformed = |what| malformed(field.name, what);
        let is_several = matches!(field.shape, Shape::Repeated | Shape::Map);
        if number < last || (number == last && !is_several) {
            order = Order::Other;
        }
        last = number;
        if wire != expected(field) && !is_packed(field, wire) {
            return Err(malformed(Defect::WireType));
        }
        if wire != Wire::Block {
            reader.skip(wire).map_err(malformed)?;
            continue;
        }
        let block = reader.block().map_err(malformed)?;
        let within = match (field.shape, field.kind) {
            (Shape::Map, _) => check_entry(field, block, depth, &malformed)?,
            (_, Kind::Message(inner)) => {
                let depth = depth.checked_sub(1);
                check_at(
                    inner,
                    block,
                    depth.ok_or_else(|| malformed(Defect::TooDeep))?,
                )?
            }
            (_, Kind::String | Kind::Bytes) => Order::ByNumber,
            _ => check_packed(field, block).map_err(malformed)?,
        };
        if within == Order::Other {
            order = Order::Other;
        }
    }
    Ok(order)
}

/// Checks an entry of a map: a message of a key and a value.
fn check_entry(
    field: &Field,
    block: &[u8],
    depth: u8,
    malformed: &impl Fn(Defect) -> MalformedProtobuf,
) -> Result<Order, MalformedProtobuf> {
    let mut order = Order::ByNumber;
    let mut reader = Reader::new(block);
    let mut last = 0;
    while !reader.is_empty() {
        let (number, wire) = reader.tag().map_err(malformed)?;
        if number <= last || number > 2 {
            order = Order::Other;
        }
        last = number;
        let wanted = match number {
            1 => Wire::Block,
            2 => expected_of(field.kind),
            _ => wire,
        };
        if wire != wanted {
            return Err(malformed(Defect::WireType));
        }
        if let (2, Kind::Message(inner)) = (number, field.kind) {
            let block = reader.block().map_err(malformed)?;
            let depth = depth.checked_sub(1);
            let within = check_at(
                inner,
                block,
                depth.ok_or_else(|| malformed(Defect::TooDeep))?,
            )?;
            if within == Order::Other {
                order = Order::Other;
            }
        } else {
            reader.skip(wire).map_err(malformed)?;
        }
    }
    Ok(order)
}

/// Checks numbers that are written without tags.
fn check_packed(field: &Field, block: &[u8]) -> Result<Order, Defect> {
    let mut reader = Reader::new(block);
    while !reader.is_empty() {
        reader.skip(expected_of(field.kind))?;
    }
    Ok(Order::ByNumber)
}

fn expected(field: &Field) -> Wire {
    match field.shape {
        Shape::Map => Wire::Block,
        _ => expected_of(field.kind),
    }
}

pub(super) fn expected_of(kind: Kind) -> Wire {
    match kind {
        Kind::String | Kind::Bytes | Kind::Message(_) => Wire::Block,
        Kind::Bool | Kind::Int32 | Kind::Int64 => Wire::Varint,
        Kind::Double => Wire::Fixed64,
    }
}

/// Returns true for numbers of a list that are written without tags.
fn is_packed(field: &Field, wire: Wire) -> bool {
    field.shape == Shape::Repeated && wire == Wire::Block
}
