//! Errors of a path, and of reading by it.

use std::fmt;

/// A text is not a path to a field. Trying again is useless.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot parse field path {text:?}: {reason} at byte {position}")]
pub struct ParseFieldPathError {
    pub(super) text: String,
    pub(super) position: usize,
    pub(super) reason: &'static str,
}

/// An object cannot be read by a path. Trying again is useless.
#[derive(Debug, thiserror::Error)]
#[error("cannot read the field: {0}")]
pub struct ReadFieldError(String);

// === impl ParseFieldPathError ===

impl ParseFieldPathError {
    /// Returns the position of the error in the text, in bytes.
    pub fn position(&self) -> usize {
        self.position
    }
}

// === impl ReadFieldError ===

impl ReadFieldError {
    /// The object has to be decoded to be read, and cannot be. The decoder's reason may quote the object.
    pub(crate) fn undecodable() -> Self {
        Self("the object cannot be decoded".to_owned())
    }
}

impl serde::ser::Error for ReadFieldError {
    fn custom<T: fmt::Display>(reason: T) -> Self {
        Self(reason.to_string())
    }
}

impl From<serde_json::Error> for ReadFieldError {
    fn from(error: serde_json::Error) -> Self {
        Self(error.to_string())
    }
}
