//! Errors of patches.

use serde_json::{Map, Value};

use super::print::{go_type, print_as_text};
use crate::go_text::plain;

/// A patch that cannot be applied; the messages are the API server's.
///
/// A retry does not help.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PatchError {
    /// `$deleteFromPrimitiveList` is not followed by the name of a list.
    #[error("invalid patch format of primitive list")]
    BadPrimitiveList,
    /// `$retainKeys` is no list, or lacks a key of the patch.
    #[error("invalid patch format of retainKeys")]
    BadRetainKeys,
    /// `$setElementOrder` is not followed by the name of a list.
    #[error("invalid patch format of setElementOrder list")]
    BadSetElementOrder,
    /// A list of lists cannot be merged.
    #[error("lists of lists are not supported")]
    ListOfLists,
    /// Something else does not fit.
    #[error("{message}")]
    Other {
        /// Go's words for it.
        message: String,
    },
}

// === impl PatchError ===

impl PatchError {
    /// The HTTP status of the answer. One of 500 has no reason.
    pub fn code(&self) -> u16 {
        match self {
            PatchError::BadPrimitiveList
            | PatchError::BadRetainKeys
            | PatchError::BadSetElementOrder => 400,
            PatchError::ListOfLists => 422,
            PatchError::Other { .. } => 500,
        }
    }
}

/// The directive of a map is not one.
pub(super) fn bad_directive(directive: &Value, patch: &Map<String, Value>) -> PatchError {
    let patch = plain(&Value::Object(patch.clone()));
    other(format!(
        "unknown patch type: {} in map: {patch}",
        print_as_text(directive)
    ))
}

/// Creates the error for a value of a wrong type.
pub(super) fn bad_type(expected: &str, found: &Value) -> PatchError {
    other(format!(
        "expected a {expected}, but received a {}",
        go_type(found)
    ))
}

pub(super) fn other(message: impl Into<String>) -> PatchError {
    PatchError::Other {
        message: message.into(),
    }
}
