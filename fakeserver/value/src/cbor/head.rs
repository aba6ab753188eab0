//! Heads of data items: a type, with a number, a length or a simple value.

use super::error::CborError;

// The types of items.
pub(super) const POSITIVE: u8 = 0;
pub(super) const NEGATIVE: u8 = 1;
pub(super) const BYTES: u8 = 2;
pub(super) const TEXT: u8 = 3;
pub(super) const ARRAY: u8 = 4;
pub(super) const MAP: u8 = 5;
pub(super) const TAG: u8 = 6;
pub(super) const PRIMITIVE: u8 = 7;

/// The additional information of an item without a length.
pub(super) const INDEFINITE: u8 = 31;

/// The difference of the exponents that stand for 1 in an `f64` and in a float of two bytes.
const BIAS: u64 = 1023 - 15;

/// The number of bits that the fraction of an `f64` has more than that of a float in two bytes.
const SPARE: u64 = 42;

/// The beginning of an item. One without a length ends with a `Break`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Head {
    Positive(u64),
    /// -1 minus the number.
    Negative(u64),
    Bytes(Option<usize>),
    Text(Option<usize>),
    Array(Option<usize>),
    Map(Option<usize>),
    Tag(u64),
    Simple(u8),
    Float(f64),
    Break,
}

// === impl Head ===

impl Head {
    /// Reads the head at the beginning of `bytes`, and returns the number of its bytes, too.
    pub(super) fn read(bytes: &[u8]) -> Result<(Self, usize), CborError> {
        let (first, rest) = bytes.split_first().ok_or(CborError::Truncated)?;
        let (major, info) = (first >> 5, first & INDEFINITE);
        let width = match info {
            24..=27 => 1 << (info - 24),
            _ => 0,
        };
        let is_invalid = match info {
            INDEFINITE => matches!(major, POSITIVE | NEGATIVE | TAG),
            info => info > 27,
        };
        if is_invalid {
            return Err(CborError::unacceptable(format!(
                "invalid additional information {info} for type {}",
                major_name(major)
            )));
        }
        let argument = rest.get(..width).ok_or(CborError::Truncated)?;
        let number = match argument {
            [] => u64::from(info),
            bytes => bytes
                .iter()
                .fold(0, |sum, byte| sum << 8 | u64::from(*byte)),
        };
        // No body is so long.
        let length = usize::try_from(number).unwrap_or(usize::MAX);
        let length = (info != INDEFINITE).then_some(length);
        let head = match major {
            POSITIVE => Self::Positive(number),
            NEGATIVE => Self::Negative(number),
            BYTES => Self::Bytes(length),
            TEXT => Self::Text(length),
            ARRAY => Self::Array(length),
            MAP => Self::Map(length),
            TAG => Self::Tag(number),
            _ => match *argument {
                [] if info == INDEFINITE => Self::Break,
                [] => Self::Simple(info),
                [value] => Self::Simple(value),
                [a, b] => Self::Float(from_half(u16::from_be_bytes([a, b]))),
                [a, b, c, d] => Self::Float(f32::from_be_bytes([a, b, c, d]).into()),
                _ => Self::Float(f64::from_bits(number)),
            },
        };
        Ok((head, 1 + width))
    }
}

/// Writes a head with a number, in as few bytes as it needs.
pub(super) fn push(out: &mut Vec<u8>, major: u8, number: u64) {
    let bytes = number.to_be_bytes();
    let (info, width) = match number {
        0..24 => (bytes[7], 0),
        24..=0xff => (24, 1),
        0x100..=0xffff => (25, 2),
        0x1_0000..=0xffff_ffff => (26, 4),
        _ => (27, 8),
    };
    out.push(major << 5 | info);
    out.extend_from_slice(&bytes[8 - width..]);
}

/// Writes a finite float, in as few bytes as it needs.
pub(super) fn push_float(out: &mut Vec<u8>, number: f64) {
    #[expect(clippy::cast_possible_truncation, reason = "the result is compared")]
    let single = number as f32;
    let (info, bytes): (u8, &[u8]) = if let Some(half) = to_half(number) {
        (25, &half.to_be_bytes())
    } else if f64::from(single).to_bits() == number.to_bits() {
        (26, &single.to_be_bytes())
    } else {
        (27, &number.to_be_bytes())
    };
    out.push(PRIMITIVE << 5 | info);
    out.extend_from_slice(bytes);
}

/// Returns the float that is written in two bytes.
pub(super) fn from_half(half: u16) -> f64 {
    let (exponent, fraction) = (u64::from(half >> 10 & 0x1f), u64::from(half & 0x3ff));
    let size = match exponent {
        0 => f64::from(half & 0x3ff) / 16_777_216.0,
        31 if fraction == 0 => f64::INFINITY,
        31 => f64::NAN,
        _ => f64::from_bits((exponent + BIAS) << 52 | fraction << SPARE),
    };
    if half >> 15 == 0 { size } else { -size }
}

/// Returns a finite float in two bytes, if none of its bits is lost.
fn to_half(number: f64) -> Option<u16> {
    let bits = number.to_bits();
    let (exponent, fraction) = (bits >> 52 & 0x7ff, bits & ((1 << 52) - 1));
    let lowest = BIAS + 1;
    let (size, lost) = match exponent {
        0 => (0, fraction),
        // Smaller ones have no leading bit but a written one.
        _ if exponent < lowest => {
            let shift = SPARE + lowest - exponent;
            if shift > 52 {
                return None;
            }
            let fraction = 1 << 52 | fraction;
            (fraction >> shift, fraction << (64 - shift))
        }
        _ => {
            let exponent = exponent - BIAS;
            if exponent > 30 {
                return None;
            }
            (exponent << 10 | fraction >> SPARE, fraction << (64 - SPARE))
        }
    };
    let sign = bits >> 63 << 15;
    (lost == 0).then(|| u16::try_from(sign | size).ok())?
}

pub(super) fn major_name(major: u8) -> &'static str {
    match major {
        POSITIVE => "positive integer",
        NEGATIVE => "negative integer",
        BYTES => "byte string",
        TEXT => "UTF-8 text string",
        ARRAY => "array",
        MAP => "map",
        TAG => "tag",
        _ => "primitives",
    }
}
