//! A data item: a value as it was written, with its tags and the order of its keys.

use std::borrow::Cow;

use super::error::CborError;

pub(super) const FALSE: u8 = 20;
pub(super) const TRUE: u8 = 21;
pub(super) const NULL: u8 = 22;
pub(super) const UNDEFINED: u8 = 23;

/// One data item, which borrows from its bytes.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Item<'a> {
    Positive(u64),
    /// -1 minus this number.
    Negative(u64),
    Bytes(Cow<'a, [u8]>),
    /// A text; `None` if it is not UTF-8.
    Text(Option<Cow<'a, str>>),
    Array(Vec<Item<'a>>),
    /// In their order, repeated keys included.
    Map(Vec<(Item<'a>, Item<'a>)>),
    Tag(u64, Box<Item<'a>>),
    /// A value without a content: booleans, null, and others that are not accepted.
    Simple(u8),
    Float(f64),
}

// === impl Item ===

impl Item<'_> {
    /// Returns the name of its type in errors.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Positive(_) => "positive integer",
            Self::Negative(_) => "negative integer",
            Self::Bytes(_) => "byte string",
            Self::Text(_) => "UTF-8 text string",
            Self::Array(_) => "array",
            Self::Map(_) => "map",
            Self::Tag(..) => "tag",
            Self::Simple(_) | Self::Float(_) => "primitives",
        }
    }

    /// Returns whether the item sets a Go value that can be nil to nil.
    pub(super) fn is_nil(&self) -> bool {
        matches!(self, Self::Simple(NULL | UNDEFINED))
    }

    /// Returns the error of a simple value that no type takes.
    pub(super) fn unrecognized(&self) -> Option<CborError> {
        match self {
            Self::Simple(FALSE | TRUE | NULL) => None,
            Self::Simple(value) => {
                let what = format!("simple value {value} is not recognized");
                Some(CborError::not_accepted(self.kind(), &what))
            }
            _ => None,
        }
    }
}

/// Returns the number that is -1 minus `n`.
pub(super) fn negated(n: u64) -> i128 {
    -1 - i128::from(n)
}
