//! Protobuf, compiled out: such requests are refused, and no answer is written so.

#[path = "protobuf/error.rs"]
mod error;

use serde_json::Value;

pub use self::error::ProtobufError;
use super::schema::{TypeId, TypeMeta};

/// An encoder of nothing.
pub struct ItemEncoder;

/// Fails.
pub fn decode_object(_: &[u8], _: Option<&TypeMeta>) -> Result<Value, ProtobufError> {
    Err(ProtobufError::NoPrefix)
}

/// Fails.
pub fn peek_kind(_: &[u8]) -> Result<TypeMeta, ProtobufError> {
    Err(ProtobufError::NoPrefix)
}

/// Fails.
pub fn encode_object(_: &Value) -> Result<Vec<u8>, ProtobufError> {
    Err(ProtobufError::NoPrefix)
}

/// Fails.
pub fn encode_object_as(_: TypeId, _: &TypeMeta, _: &Value) -> Result<Vec<u8>, ProtobufError> {
    Err(ProtobufError::NoPrefix)
}

/// Fails.
pub fn begin_list(_: &TypeMeta, _: &Value, _: usize) -> Result<Vec<u8>, ProtobufError> {
    Err(ProtobufError::NoPrefix)
}

/// Returns nothing.
pub fn end_list() -> Vec<u8> {
    Vec::new()
}

/// Returns nothing.
pub fn encode_watch_frame(_: &str, _: &[u8]) -> Vec<u8> {
    Vec::new()
}

// === impl ItemEncoder ===

impl ItemEncoder {
    /// Returns an encoder that fails.
    pub fn new(_: TypeId) -> Self {
        Self
    }

    /// Fails.
    pub fn push_json(&mut self, _: &[u8], _: &mut Vec<u8>) -> Result<(), ProtobufError> {
        Err(ProtobufError::NoPrefix)
    }

    /// Fails.
    pub fn push(&mut self, _: &Value, _: &mut Vec<u8>) -> Result<(), ProtobufError> {
        Err(ProtobufError::NoPrefix)
    }
}
