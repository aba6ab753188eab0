//! Errors of manifests.

use std::path::PathBuf;

use fakeserver_value::object::ObjectError;

use super::{FileError, Origin};

/// A file or an object in it that cannot be used. To be mended in the file; trying again does not help.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ManifestError {
    /// There are no files, or they cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file is no valid YAML or JSON.
    #[error("{}: {reason}", file.display())]
    Syntax {
        /// Which file.
        file: PathBuf,
        /// The problem, and its line.
        reason: String,
    },
    /// The document is no API object.
    #[error("{origin}: {reason}")]
    NoObject {
        /// The position of the document.
        origin: Origin,
        /// The kind of value that it is instead.
        reason: String,
    },
    /// The server does not take the object.
    #[error("{origin}")]
    Refused {
        /// The position of the object.
        origin: Origin,
        /// The reason, with the field.
        source: Box<ObjectError>,
    },
}
