//! The defects of CBOR, and of CBOR that is not what it should be.

/// A defect of CBOR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum MalformedCbor {
    #[error("unexpected end")]
    Truncated,
    #[error("a head that CBOR does not have")]
    Head,
    #[error("a break outside of an item without a length")]
    Break,
    #[error("a piece of a string that is no string of its kind")]
    Piece,
    #[error("more than {} items in each other", super::skipper::DEPTH_MAX)]
    TooDeep,
    #[error("bytes behind the item")]
    Trailing,
    #[error("not the item that was expected")]
    Unexpected,
    #[error("a number that JSON does not have")]
    Number,
}
