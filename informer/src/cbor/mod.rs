//! Objects in CBOR (RFC 8949), in the forms that API servers write.
//!
//! Names and texts are byte strings or text strings, bytes have the tag that asks for base64, and every other tag is stepped
//! over. [`read`] feeds an object to any type that can be decoded from JSON. [`Skipper`] finds the end of an item
//! that has not arrived yet.

mod error;
mod head;
mod skipper;
mod deserializer;
mod elements;

#[cfg(test)]
mod tests;

pub(crate) use self::{
    deserializer::{each_entry, read},
    error::MalformedCbor,
    head::Head,
    skipper::Skipper,
};

/// The tag of self-described CBOR: the prefix of every object that is no part of another one.
pub(crate) const PREFIX: [u8; 3] = [0xd9, 0xd9, 0xf7];
