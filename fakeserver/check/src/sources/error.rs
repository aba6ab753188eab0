//! Errors of paths that cannot be read.

use std::{io, path::PathBuf};

use super::{FILE_MAX_BYTES, FILES_MAX};

/// A path of which nothing can be checked. Trying again does not help.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// The file or folder cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    NotRead {
        /// Which one.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// There is nothing in the folder to check.
    #[error("{} has no files that end in .yaml, .yml or .json", path.display())]
    Empty {
        /// Which folder.
        path: PathBuf,
    },
    /// Folders are nested deeper than the limit, which a cyclic link causes.
    #[error("{} is nested too deep: a link may lead back", path.display())]
    TooDeep {
        /// The path at which reading ended.
        path: PathBuf,
    },
    /// The file is larger than the limit.
    #[error("{} has more than {} MiB: split it into several files", path.display(), FILE_MAX_BYTES >> 20)]
    TooLarge {
        /// Which file.
        path: PathBuf,
    },
    /// There are more files than the limit.
    #[error("{} has more than {FILES_MAX} files: name fewer folders", path.display())]
    TooMany {
        /// The path at which reading ended.
        path: PathBuf,
    },
}
