//! Bytes become a data item, if they are well-formed.

use std::borrow::Cow;

use super::{
    error::CborError,
    head::{BYTES, Head, INDEFINITE, TAG, TEXT, major_name},
    item::Item,
};
use crate::json::DEPTH_MAX;

/// The number of pairs that a map may have.
const PAIRS_MAX: usize = 2_097_152;
/// The number of items that an array may have.
const ITEMS_MAX: usize = 2_147_483_647;
/// The tags of numbers of any size, which are not accepted.
const BIG_NUMBERS: [u64; 2] = [2, 3];

const BREAK: u8 = 0xff;
/// The first byte of a simple value that is written in two.
const LONG_SIMPLE: u8 = 0xf8;

/// Reads one data item, which has to be all of the bytes.
pub(super) fn read(bytes: &[u8]) -> Result<Item<'_>, CborError> {
    if bytes.is_empty() {
        return Err(CborError::Empty);
    }
    let mut reader = Reader { bytes, at: 0 };
    let item = reader.item(0)?;
    let left = bytes.len() - reader.at;
    if left > 0 {
        return Err(CborError::unacceptable(format!(
            "{left} bytes of extraneous data starting at index {}",
            reader.at
        )));
    }
    Ok(item)
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// A string of bytes or of text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum StringKind {
    Bytes,
    Text,
}

// === impl Reader ===

impl<'a> Reader<'a> {
    fn item(&mut self, depth: usize) -> Result<Item<'a>, CborError> {
        match self.head()? {
            Head::Positive(number) => Ok(Item::Positive(number)),
            Head::Negative(number) => Ok(Item::Negative(number)),
            Head::Simple(value) => Ok(Item::Simple(value)),
            Head::Float(number) => Ok(Item::Float(number)),
            Head::Break => Err(CborError::unacceptable("unexpected \"break\" code")),
            Head::Bytes(Some(length)) => {
                let chunk = self.chunk(StringKind::Bytes, length)?;
                Ok(Item::Bytes(Cow::Borrowed(chunk)))
            }
            Head::Bytes(None) => {
                let chunks = self.chunks(StringKind::Bytes)?;
                Ok(Item::Bytes(Cow::Owned(chunks.concat())))
            }
            Head::Text(Some(length)) => {
                let chunk = self.chunk(StringKind::Text, length)?;
                let text = std::str::from_utf8(chunk);
                Ok(Item::Text(text.ok().map(Cow::Borrowed)))
            }
            Head::Text(None) => {
                let chunks = self.chunks(StringKind::Text)?;
                // Each of them has to be text.
                let text = chunks.into_iter().map(std::str::from_utf8);
                let text: Result<String, _> = text.collect();
                Ok(Item::Text(text.ok().map(Cow::Owned)))
            }
            Head::Array(length) => {
                let depth = deeper(depth)?;
                check_length("array", length)?;
                if length.is_some_and(|length| length > ITEMS_MAX) {
                    return Err(CborError::unacceptable(format!(
                        "exceeded max number of elements {ITEMS_MAX} for CBOR array"
                    )));
                }
                self.items(length, depth).map(Item::Array)
            }
            Head::Map(length) => self.map(length, deeper(depth)?),
            Head::Tag(number) => self.tagged(number, depth),
        }
    }

    /// Reads the beginning of an item.
    fn head(&mut self) -> Result<Head, CborError> {
        let rest = &self.bytes[self.at..];
        let (head, length) = Head::read(rest)?;
        self.at += length;
        match head {
            Head::Simple(value) if rest[0] == LONG_SIMPLE && value < 32 => {
                Err(CborError::unacceptable(format!(
                    "invalid simple value {value} for type primitives"
                )))
            }
            Head::Float(number) if number.is_nan() => {
                Err(CborError::not_accepted("primitives", "floating-point NaN"))
            }
            Head::Float(number) if number.is_infinite() => Err(CborError::not_accepted(
                "primitives",
                "floating-point infinity",
            )),
            head => Ok(head),
        }
    }

    fn chunk(&mut self, kind: StringKind, length: usize) -> Result<&'a [u8], CborError> {
        if i64::try_from(length).is_err() {
            return Err(CborError::unacceptable(format!(
                "{} length {length} is too large, causing integer overflow",
                kind.name()
            )));
        }
        let rest = &self.bytes[self.at..];
        let chunk = rest.get(..length).ok_or(CborError::Truncated)?;
        self.at += length;
        Ok(chunk)
    }

    /// Reads the chunks of a string without a length, up to its end.
    fn chunks(&mut self, kind: StringKind) -> Result<Vec<&'a [u8]>, CborError> {
        let mut chunks = Vec::new();
        while !self.ends()? {
            let first = self.bytes[self.at];
            if first >> 5 != kind.major() {
                return Err(CborError::unacceptable(format!(
                    "wrong element type {} for indefinite-length {}",
                    major_name(first >> 5),
                    kind.name()
                )));
            }
            if first & INDEFINITE == INDEFINITE {
                return Err(CborError::unacceptable(format!(
                    "indefinite-length {} chunk is not definite-length",
                    kind.name()
                )));
            }
            if let Head::Bytes(Some(length)) | Head::Text(Some(length)) = self.head()? {
                chunks.push(self.chunk(kind, length)?);
            }
        }
        Ok(chunks)
    }

    fn items(&mut self, length: Option<usize>, depth: usize) -> Result<Vec<Item<'a>>, CborError> {
        let mut items = Vec::new();
        if let Some(length) = length {
            for _ in 0..length {
                items.push(self.item(depth)?);
            }
        } else {
            while !self.ends()? {
                items.push(self.item(depth)?);
            }
        }
        Ok(items)
    }

    fn map(&mut self, length: Option<usize>, depth: usize) -> Result<Item<'a>, CborError> {
        check_length("map", length)?;
        let too_many = || {
            Err(CborError::unacceptable(format!(
                "exceeded max number of key-value pairs {PAIRS_MAX} for CBOR map"
            )))
        };
        if length.is_some_and(|length| length > PAIRS_MAX) {
            return too_many();
        }
        let mut pairs = Vec::new();
        while length.is_none_or(|length| pairs.len() < length) {
            if length.is_none() && self.ends()? {
                break;
            }
            let key = self.item(depth)?;
            // The end is not a value.
            let value = self.item(depth)?;
            pairs.push((key, value));
            if pairs.len() > PAIRS_MAX {
                return too_many();
            }
        }
        Ok(Item::Map(pairs))
    }

    /// Reads the content of a tag, and the tags between them.
    fn tagged(&mut self, number: u64, mut depth: usize) -> Result<Item<'a>, CborError> {
        let mut numbers = vec![number];
        loop {
            let next = *self.bytes.get(self.at).ok_or(CborError::Truncated)?;
            if numbers
                .last()
                .is_some_and(|number| BIG_NUMBERS.contains(number))
            {
                return Err(CborError::not_accepted("tag", "bignum"));
            }
            if next >> 5 != TAG {
                break;
            }
            if let Head::Tag(number) = self.head()? {
                numbers.push(number);
            }
            depth = deeper(depth)?;
        }
        let content = self.item(depth)?;
        let tags = numbers.into_iter().rev();
        Ok(tags.fold(content, |item, number| Item::Tag(number, Box::new(item))))
    }

    /// Returns whether an item without a length ends here, and steps over the end.
    fn ends(&mut self) -> Result<bool, CborError> {
        let next = *self.bytes.get(self.at).ok_or(CborError::Truncated)?;
        self.at += usize::from(next == BREAK);
        Ok(next == BREAK)
    }
}

fn deeper(depth: usize) -> Result<usize, CborError> {
    if depth >= DEPTH_MAX {
        return Err(CborError::unacceptable(format!(
            "exceeded max nested level {DEPTH_MAX}"
        )));
    }
    Ok(depth + 1)
}

/// Refuses a length that Go cannot count.
fn check_length(kind: &str, length: Option<usize>) -> Result<(), CborError> {
    match length {
        Some(length) if i64::try_from(length).is_err() => Err(CborError::unacceptable(format!(
            "{kind} length {length} is too large, it would cause integer overflow"
        ))),
        _ => Ok(()),
    }
}

// === impl StringKind ===

impl StringKind {
    fn major(self) -> u8 {
        match self {
            Self::Bytes => BYTES,
            Self::Text => TEXT,
        }
    }

    fn name(self) -> &'static str {
        major_name(self.major())
    }
}
