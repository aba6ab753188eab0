//! Objects in files of YAML or JSON, as people write them and as `kubectl get -o yaml` prints them.
//!
//! A file has documents, a document is an object or a list, and a list has objects; a directory has files and
//! directories. Objects are returned in the order in which they are found, except that namespaces and definitions of
//! custom resources come first.

mod error;
mod files;
mod read;
#[cfg(test)]
mod tests;

use std::{fmt, path::PathBuf};

use serde_json::Value;

pub use self::error::ManifestError;
pub use self::files::{FileError, FileList};
pub use self::read::read;

/// The position of an object, for errors.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Origin {
    /// The file.
    pub file: PathBuf,
    /// Which of its documents that are not empty, from 1.
    pub document: usize,
    /// Which item, if the document is a list, from 1.
    pub item: Option<usize>,
}

/// An object, and where it was found.
#[derive(Clone, Debug)]
pub struct Manifest {
    /// `None` for an object that was not read from a file.
    pub origin: Option<Origin>,
    pub object: Value,
}

// === impl Origin ===

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, document {}", self.file.display(), self.document)?;
        if let Some(item) = self.item {
            write!(f, ", item {item}")?;
        }
        Ok(())
    }
}

// === impl Manifest ===

impl Manifest {
    /// Returns the order of creation: namespaces first, then definitions, then others.
    fn precedence(&self) -> u8 {
        match self.object["kind"].as_str() {
            Some("Namespace") => 0,
            Some("CustomResourceDefinition") => 1,
            _ => 2,
        }
    }
}
