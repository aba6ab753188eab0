//! Why an object is not put in, and why a server is not built.

use std::sync::Arc;

use http::StatusCode;

use crate::{manifests::ManifestError, snapshot::SnapshotError};

/// An object that a server does not take, or cannot give back.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ObjectError {
    /// It does not serialize: a defect of its type.
    #[error("the object cannot be written as JSON")]
    NotJson(#[source] Arc<serde_json::Error>),
    /// The server does not take it. The message names the field; trying again does not help.
    #[error("{object}: {message}")]
    Refused {
        /// Which one, as in `Pod default/p`.
        object: String,
        /// What a client would be answered with.
        code: StatusCode,
        /// The reason in that answer, as in `Invalid`; empty where there is none.
        reason: String,
        /// The message in that answer.
        message: String,
    },
    /// What is stored is no value of the type that was asked for. It is stored nevertheless.
    #[error("{object}: what is stored cannot be read as its type")]
    Unreadable {
        /// Which one, as in `Pod default/p`.
        object: String,
        /// Why not.
        source: serde_json::Error,
    },
}

/// A server that cannot be built as told.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// One of the builder's objects is not taken.
    #[error("an object to begin with is refused")]
    Object(#[source] ObjectError),
    /// A manifest cannot be read, or an object in it is not taken.
    #[error("a manifest is refused")]
    Manifest(#[from] ManifestError),
    /// The file that it keeps its state in cannot be used.
    #[error("the state on disk cannot be used")]
    Data(#[from] SnapshotError),
}

// === impl ObjectError ===

impl ObjectError {
    /// Whether there is no such object.
    pub fn is_not_found(&self) -> bool {
        matches!(self, Self::Refused { reason, .. } if reason == "NotFound")
    }

    /// Whether the object does not pass validation.
    pub fn is_invalid(&self) -> bool {
        matches!(self, Self::Refused { reason, .. } if reason == "Invalid")
    }
}
