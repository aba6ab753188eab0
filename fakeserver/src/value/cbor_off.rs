//! CBOR, compiled out: such requests are refused, and no answer is written so.

use std::{convert::Infallible, marker::PhantomData};

use serde_json::Value;

use super::schema::{TypeId, TypeMeta};

/// CBOR is not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("CBOR is compiled out")]
#[non_exhaustive]
pub struct CborError;

/// A body that cannot exist.
#[derive(Debug, Clone, PartialEq)]
pub struct Document<'a>(Infallible, PhantomData<&'a [u8]>);

/// Returns nothing.
pub fn encode(_: &Value, _: Option<TypeId>) -> Vec<u8> {
    Vec::new()
}

/// Returns nothing.
pub fn encode_frame(_: &str, _: &[u8]) -> Vec<u8> {
    Vec::new()
}

/// Returns nothing.
pub(crate) fn begin_list(_: &str, _: usize) -> Vec<u8> {
    Vec::new()
}

/// Returns nothing.
pub(crate) fn end_list(_: &Value, _: &str) -> Vec<u8> {
    Vec::new()
}

/// Does nothing.
pub(crate) fn push_item(_: &Value, _: Option<TypeId>, _: &mut Vec<u8>) {}

// === impl Document ===

impl<'a> Document<'a> {
    /// Fails.
    pub fn parse(_: &'a [u8]) -> Result<Self, CborError> {
        Err(CborError)
    }

    /// Returns its value as JSON.
    pub fn value(&self) -> Result<Value, CborError> {
        match self.0 {}
    }

    /// Returns its value as JSON, if it is a map.
    pub fn object(&self) -> Result<Value, CborError> {
        match self.0 {}
    }

    /// Returns the kind and version that it names.
    pub fn type_meta(&self) -> Result<TypeMeta, CborError> {
        match self.0 {}
    }

    /// Reads it into a type.
    pub fn decode(&self, _: TypeId) -> Result<Value, CborError> {
        match self.0 {}
    }

    /// Returns the error of the first field that a type does not have.
    pub fn unknown_field(&self, _: TypeId) -> Option<CborError> {
        match self.0 {}
    }

    /// Returns it in diagnostic notation.
    pub fn diagnose(&self) -> String {
        match self.0 {}
    }
}
