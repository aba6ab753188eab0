//! Errors of changing a kubeconfig.

use std::{io, path::PathBuf};

/// The reason why a text is not changed.
#[derive(Debug, thiserror::Error)]
pub(super) enum EditError {
    #[error("it is not YAML: {0}")]
    Syntax(String),
    #[error("it is not a kubeconfig: {0}")]
    NotConfig(String),
    #[error("it is written so that entries cannot be changed without changing something else")]
    Shape,
}

/// The reason why entries are not written to a file, or not removed from it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KubeconfigError {
    /// The text cannot be changed. Use another file.
    #[error("cannot change the kubeconfig {}: {why}", file.display())]
    NotChanged {
        /// The file.
        file: PathBuf,
        /// The reason.
        why: String,
    },
    /// The file cannot be read or replaced.
    #[error("cannot write the kubeconfig {}", file.display())]
    NotWritten {
        /// The file.
        file: PathBuf,
        /// The error of the file system.
        source: io::Error,
    },
    /// Another program holds the lock, or has left it behind.
    #[error(
        "the kubeconfig {} is locked by {}, which did not go away: remove it if no program is writing",
        file.display(), lock.display()
    )]
    Locked {
        /// The file.
        file: PathBuf,
        /// The lock's file.
        lock: PathBuf,
    },
    /// An entry of the same name is there, and is not to be replaced.
    #[error("the kubeconfig {} has {entry}; {advice}", file.display())]
    Taken {
        /// The file.
        file: PathBuf,
        /// The entry, and whose it is.
        entry: String,
        /// The option that gives another name.
        advice: String,
    },
}
