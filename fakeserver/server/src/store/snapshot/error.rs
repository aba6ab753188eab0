//! Errors of reading and writing snapshots.

use std::{
    io,
    path::{Path, PathBuf},
};

use fakeserver_etcd::StateError;

/// A snapshot that is not there, cannot be taken, or cannot be kept.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// The file cannot be read: a matter of its path or permissions.
    #[error("cannot read the snapshot {}", file.display())]
    NotRead {
        /// Which file.
        file: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The file cannot be written, and is unchanged. A retry may succeed.
    #[error("cannot write the snapshot {}", file.display())]
    NotWritten {
        /// Which file.
        file: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// Another server has it. It is free when that one has ended.
    #[error("{} is in use by another server", file.display())]
    InUse {
        /// Which file.
        file: PathBuf,
    },
    /// The file is not a complete snapshot. Nothing was restored; use another one, or move it away to start empty.
    #[error("{}, line {line}: {reason}", file.display())]
    Damaged {
        /// Which file.
        file: PathBuf,
        /// The first line that is wrong, from 1.
        line: usize,
        /// The problem.
        reason: String,
    },
    /// The log beside the file is not whole, or is not its log. Nothing was restored. Move it away to begin with the snapshot
    /// alone, without what was acknowledged after it.
    #[error("{}, line {line} (byte {offset}): {reason}", file.display())]
    LogDamaged {
        /// Which file.
        file: PathBuf,
        /// The first line that is wrong, from 1.
        line: usize,
        /// The byte of the file at which it is, from 0.
        offset: usize,
        /// The problem.
        reason: String,
    },
    /// The file does not give the state of a cluster in etcd: it is damaged, another program's, or an object in it cannot be
    /// read.
    #[error("cannot read the snapshot of etcd {}", file.display())]
    Etcd {
        /// Which file.
        file: PathBuf,
        /// The problem, with its place.
        source: Box<StateError>,
    },
    /// A newer program has written it, which has to read it too.
    #[error("{}, line 1: format version {found} is newer than {supported}, the newest that this program knows", file.display())]
    TooNew {
        /// Which file.
        file: PathBuf,
        /// Its version.
        found: u64,
        /// The newest one that can be read.
        supported: u64,
    },
}

// === impl SnapshotError ===

impl SnapshotError {
    /// Returns whether another server uses the file.
    pub fn is_in_use(&self) -> bool {
        matches!(self, Self::InUse { .. })
    }

    pub(super) fn absent(file: &Path) -> Self {
        Self::NotRead {
            file: file.to_owned(),
            source: io::ErrorKind::NotFound.into(),
        }
    }
}
