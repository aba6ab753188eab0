//! Built-in objects as protobuf, which typed Go clients send and prefer.
//!
//! An object is the bytes `k8s\0`, an envelope that names its kind, and in it the message. A frame of a watch is a length
//! of four bytes, big-endian, and an event that holds such an object. Reading gives the JSON that the API server prints;
//! writing gives the bytes that the generated Go code writes. Custom resources have no protobuf.
//!
//! Reading never panics, on any bytes. Nesting and the number of values are bounded, so that a small request cannot use
//! unlimited memory.

mod error;
mod reader;
mod forms;
mod wire;
mod decode;
mod encode;
mod envelope;
mod list;

#[cfg(test)]
mod tests;

pub use self::{
    envelope::{
        WatchFrame, decode_object, decode_object_as, decode_object_in, decode_watch_frame,
        encode_object, encode_object_as, encode_object_in, encode_watch_frame, peek_kind,
    },
    error::ProtobufError,
    list::{ItemEncoder, begin_list, end_list},
};
