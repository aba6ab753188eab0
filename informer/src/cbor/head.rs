//! The head of an item: its type, and its value or its length.

use super::error::MalformedCbor;

/// The tag of bytes that JSON shows in base64.
pub(super) const BASE64: u64 = 22;
/// The simple values.
const FALSE: u8 = 20;
const TRUE: u8 = 21;
const NULL: u8 = 22;
const UNDEFINED: u8 = 23;

/// A head. Strings, arrays and maps without a length end with a break.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Head {
    Positive(u64),
    /// The number is -1 minus this.
    Negative(u64),
    Bytes(Option<u64>),
    Text(Option<u64>),
    Array(Option<u64>),
    Map(Option<u64>),
    Tag(u64),
    Bool(bool),
    Null,
    Simple,
    Float(f64),
    Break,
}

// === impl Head ===

impl Head {
    /// Reads the head that bytes begin with, and its size; `None` if it is not all there.
    pub(crate) fn read(bytes: &[u8]) -> Result<Option<(Self, usize)>, MalformedCbor> {
        let Some((first, rest)) = bytes.split_first() else {
            return Ok(None);
        };
        let (major, info) = (first >> 5, first & 0x1f);
        let size = match info {
            24 => 1,
            25 => 2,
            26 => 4,
            27 => 8,
            _ => 0,
        };
        let Some(argument) = rest.get(..size) else {
            return Ok(None);
        };
        let argument = match info {
            0..24 => Some(u64::from(info)),
            24..28 => Some(
                argument
                    .iter()
                    .fold(0, |value, byte| value << 8 | u64::from(*byte)),
            ),
            31 => None,
            _ => return Err(MalformedCbor::Head),
        };
        let head = match (major, argument) {
            (0, Some(value)) => Self::Positive(value),
            (1, Some(value)) => Self::Negative(value),
            (2, length) => Self::Bytes(length),
            (3, length) => Self::Text(length),
            (4, length) => Self::Array(length),
            (5, length) => Self::Map(length),
            (6, Some(tag)) => Self::Tag(tag),
            (7, None) => Self::Break,
            (7, Some(value)) => Self::simple(size, value),
            _ => return Err(MalformedCbor::Head),
        };
        Ok(Some((head, 1 + size)))
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "the value was read from as many bytes"
    )]
    fn simple(size: usize, value: u64) -> Self {
        match size {
            2 => Self::Float(half(value as u16)),
            4 => Self::Float(f64::from(f32::from_bits(value as u32))),
            8 => Self::Float(f64::from_bits(value)),
            _ => match value as u8 {
                FALSE => Self::Bool(false),
                TRUE => Self::Bool(true),
                NULL | UNDEFINED => Self::Null,
                _ => Self::Simple,
            },
        }
    }
}

/// Reads a number of 16 bits.
fn half(bits: u16) -> f64 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1f), f64::from(bits & 0x3ff));
    let value = match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + fraction / 1024.0) * 2f64.powi(exponent - 15),
    };
    if bits & 0x8000 == 0 { value } else { -value }
}
