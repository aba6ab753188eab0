//! The part of an object that a function reads.

/// The part of an object that an index, a filter or a transform reads.
///
/// In a store of whole objects each costs the same. A store of compressed ones answers the first for nothing and the second
/// without building the object; for the third it decodes every object that the function is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(
    clippy::exhaustive_enums,
    reason = "complete by definition: what is parsed on arrival, a part of the rest, all of it"
)]
pub enum Reads {
    /// The metadata, known of every object without decoding: [`Metadata`](super::Metadata).
    Metadata,
    /// Some fields, by their [paths](crate::field_path::FieldPath).
    Fields,
    /// The object itself, which has to be decoded.
    Value,
}
