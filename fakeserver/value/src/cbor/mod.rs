//! Objects as CBOR (RFC 8949), in the form that API servers write and accept.
//!
//! Every object begins with the tag of self-described CBOR. Names and texts are byte strings, bytes have the tag that
//! asks for base64, and the keys of maps are sorted. Any well-formed CBOR is read, with these exceptions: repeated keys,
//! big numbers, numbers that JSON does not have, and simple values other than booleans and null.
//!
//! The rules, and the words of errors, are those of the CBOR decoder of Go that API servers use. Reading never panics, on
//! any bytes, and nesting is bounded.

mod error;
mod item;
mod head;
mod reader;
mod tags;
mod plain;
mod entries;
mod typed;
mod diagnostic;
mod document;
mod encode;

#[cfg(test)]
mod tests;

pub use self::encode::{begin_list, end_list, push_item};
pub use self::{
    document::Document,
    encode::{encode, encode_frame},
    error::CborError,
};
