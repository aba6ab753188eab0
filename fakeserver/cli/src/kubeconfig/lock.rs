//! The lock of a kubeconfig, as client-go takes it: a file that is created exclusively.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use tokio::time::{Instant, sleep};

use super::KubeconfigError;

/// The time limit for other programs to release the lock.
const PATIENCE: Duration = Duration::from_secs(5);

/// The interval between two attempts at a lock that is held.
const INTERVAL: Duration = Duration::from_millis(20);

/// The locks of a file. Dropping it removes them.
#[derive(Debug, Default)]
pub(super) struct Lock {
    held: Vec<PathBuf>,
}

// === impl Lock ===

impl Lock {
    /// Locks `file`, and `target`, which is where it leads to if it is a link.
    pub(super) async fn take(file: &Path, target: &Path) -> Result<Self, KubeconfigError> {
        let mut lock = Self::default();
        let deadline = Instant::now() + PATIENCE;
        let mut names = vec![name_of(file), name_of(target)];
        // Two paths of one lock file are locked once: the second would wait for the first.
        names.dedup_by_key(|name| place_of(name));
        for name in names {
            while let Err(source) = File::options().write(true).create_new(true).open(&name) {
                if source.kind() != io::ErrorKind::AlreadyExists {
                    let file = file.to_owned();
                    return Err(KubeconfigError::NotWritten { file, source });
                }
                if Instant::now() >= deadline {
                    let (file, lock) = (file.to_owned(), name);
                    return Err(KubeconfigError::Locked { file, lock });
                }
                sleep(INTERVAL).await;
            }
            lock.held.push(name);
        }
        Ok(lock)
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        for name in &self.held {
            if let Err(error) = fs::remove_file(name) {
                tracing::warn!(%error, lock = %name.display(), "lock not removed");
            }
        }
    }
}

fn name_of(file: &Path) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".lock");
    name.into()
}

/// Returns the path without links in the names of directories.
fn place_of(lock: &Path) -> Option<PathBuf> {
    let parent = match lock.parent()? {
        parent if parent.as_os_str().is_empty() => Path::new("."),
        parent => parent,
    };
    Some(fs::canonicalize(parent).ok()?.join(lock.file_name()?))
}
