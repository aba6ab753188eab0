//! Errors of manifests.

use std::{io, path::PathBuf};

use fakeserver_value::object::ObjectError;

use super::Origin;

/// A file or an object in it that cannot be used. To be mended in the file; trying again does not help.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ManifestError {
    /// The file or directory cannot be read.
    #[error("cannot read {}", path.display())]
    NotRead {
        /// Which one.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// There is nothing in the directory to load.
    #[error("{} has no files that end in .yaml, .yml or .json", path.display())]
    Empty {
        /// Which directory.
        path: PathBuf,
    },
    /// Directories are nested deeper than the limit, which a cyclic link causes.
    #[error("{} is nested too deep: a link may lead back", path.display())]
    TooDeep {
        /// The path at which reading ended.
        path: PathBuf,
    },
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
