//! Errors of paths that cannot be read.

use std::path::PathBuf;

use fakeserver_server::store::manifests::FileError;

use super::FILE_MAX_BYTES;

/// A path of which nothing can be checked. Trying again does not help.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// There are no files, or they cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file is larger than the limit.
    #[error("{} has more than {} MiB: split it into several files", path.display(), FILE_MAX_BYTES >> 20)]
    TooLarge {
        /// Which file.
        path: PathBuf,
    },
}
