//! Why manifests are not taken.

use std::{io, path::PathBuf};

use super::Origin;
use crate::server::ObjectError;

/// A file or an object in it that cannot be used. To be mended in the file; trying again does not help.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ManifestError {
    /// The file or directory cannot be read.
    #[error("cannot read {}", path.display())]
    NotRead {
        /// Which one.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// There is nothing in the directory to load.
    #[error("{} has no files that end in .yaml, .yml or .json", path.display())]
    Empty {
        /// Which directory.
        path: PathBuf,
    },
    /// Directories are nested deeper than anybody nests them: a link leads back.
    #[error("{} is nested too deep: a link may lead back", path.display())]
    TooDeep {
        /// Where reading ended.
        path: PathBuf,
    },
    /// The file is no YAML, or no JSON.
    #[error("{}: {reason}", file.display())]
    Syntax {
        /// Which file.
        file: PathBuf,
        /// What is wrong, and in which line.
        reason: String,
    },
    /// The document is no object of the API.
    #[error("{origin}: {reason}")]
    NoObject {
        /// Where.
        origin: Origin,
        /// What it is instead.
        reason: String,
    },
    /// The server does not take the object.
    #[error("{origin}")]
    Refused {
        /// Where it was found.
        origin: Origin,
        /// Why not, with the field.
        source: Box<ObjectError>,
    },
}
