//! The fields of a message of protobuf, for etcd's own messages.

/// A field: its number, and its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field<'a> {
    /// A number as a varint.
    Number(u64, u64),
    /// Text, bytes, or a message.
    Bytes(u64, &'a [u8]),
    /// A value of a fixed length, which none of etcd's messages has.
    Other,
}

/// Reads the fields of a message. It ends with the first error, which is a text about the message.
pub(crate) fn fields(mut bytes: &[u8]) -> impl Iterator<Item = Result<Field<'_>, &'static str>> {
    std::iter::from_fn(move || {
        if bytes.is_empty() {
            return None;
        }
        let field = field(&mut bytes);
        if field.is_err() {
            bytes = &[];
        }
        Some(field)
    })
}

fn field<'a>(bytes: &mut &'a [u8]) -> Result<Field<'a>, &'static str> {
    let tag = varint(bytes)?;
    let number = tag >> 3;
    Ok(match tag & 7 {
        0 => Field::Number(number, varint(bytes)?),
        1 => skip(bytes, 8)?,
        2 => {
            let length = usize::try_from(varint(bytes)?).unwrap_or(usize::MAX);
            let part = bytes.split_off(..length);
            Field::Bytes(number, part.ok_or("a field is longer than its message")?)
        }
        5 => skip(bytes, 4)?,
        _ => return Err("a field has a type that protobuf does not have"),
    })
}

fn skip<'a>(bytes: &mut &'a [u8], length: usize) -> Result<Field<'a>, &'static str> {
    let part = bytes.split_off(..length);
    part.map(|_| Field::Other).ok_or("a number is cut off")
}

fn varint(bytes: &mut &[u8]) -> Result<u64, &'static str> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let byte = bytes.split_off_first().ok_or("a number is cut off")?;
        value |= u64::from(byte & 0x7f) << shift;
        if *byte < 0x80 {
            return Ok(value);
        }
    }
    Err("a number is longer than 64 bits")
}
