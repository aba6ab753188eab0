//! The error of an object that is put in or read from behind the API.

use std::sync::Arc;

use http::StatusCode;

/// An object that a server does not take, or cannot give back.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ObjectError {
    /// The object does not serialize: a defect of its type.
    #[error("the object cannot be written as JSON")]
    NotJson(#[source] Arc<serde_json::Error>),
    /// The server does not take it. The message names the field; trying again does not help.
    #[error("{object}: {message}")]
    Refused {
        /// Which one, as in `Pod default/p`.
        object: String,
        /// The status code that a client would be answered with.
        code: StatusCode,
        /// The reason in that answer, as in `Invalid`; empty without one.
        reason: String,
        /// The message in that answer.
        message: String,
    },
    /// The stored object is no value of the type that was asked for. It is stored nevertheless.
    #[error("{object}: what is stored cannot be read as its type")]
    Unreadable {
        /// Which one, as in `Pod default/p`.
        object: String,
        /// The reason.
        source: serde_json::Error,
    },
}

// === impl ObjectError ===

impl ObjectError {
    /// Returns whether the object does not exist.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::Refused { reason, .. } if reason == "NotFound")
    }

    /// Returns whether the object does not pass validation.
    pub fn is_invalid(&self) -> bool {
        matches!(self, Self::Refused { reason, .. } if reason == "Invalid")
    }
}
