//! Objects in protobuf, read by a table of the built-in types' fields.
//!
//! [`check`](check::check) goes through all of an object that arrives, so that what is malformed is found before anything is
//! built. [`MessageDeserializer`] then feeds it to any type that can be decoded from JSON: names, times, quantities and what
//! JSON leaves out are those of the server's JSON, so that both forms decode to equal objects. Strings are borrowed from the
//! bytes.
//!
//! # Memory
//!
//! The table takes half a megabyte from its first use on.

mod error;
mod reader;
mod table;
mod check;
mod sorted;
mod envelope;
mod special;
mod deserializer;
mod fields;

#[cfg(test)]
mod tests;

pub(crate) use self::{
    deserializer::MessageDeserializer,
    envelope::{Envelope, PREFIX, WatchFrame},
    error::{Defect, MalformedProtobuf},
    reader::{Reader, Wire},
    sorted::checked,
    table::{LIST_META, MessageId, PARTIAL_METADATA, STATUS, message_named, message_of_kind},
};
