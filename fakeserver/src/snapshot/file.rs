//! Snapshots in files: one server a file, and never half of one.

use std::{
    fs::{self, File, TryLockError},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use super::{Snapshot, SnapshotError, format};
use crate::revision::Revision;

/// The file that a server keeps its state in. It is the server's alone as long as this lives.
#[derive(Debug)]
pub(crate) struct DataFile {
    path: PathBuf,
    /// The lock is on a file beside it, since the file itself is replaced by each write.
    _lock: File,
    saved: Mutex<Option<Mark>>,
}

/// What a state is known by: a server that was reset comes by the same revisions again, but has drawn more uids.
type Mark = (Revision, u64);

/// The snapshot in `file`, if there is such a file.
pub(super) fn read(file: &Path) -> Result<Option<Snapshot>, SnapshotError> {
    match fs::read(file) {
        Ok(bytes) => format::parse(file, &bytes).map(Some),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(SnapshotError::NotRead {
            file: file.to_owned(),
            source,
        }),
    }
}

/// Replaces `file` by one with `bytes` in it.
pub(super) fn write(file: &Path, bytes: &[u8]) -> Result<(), SnapshotError> {
    replace(file, bytes).map_err(|source| SnapshotError::NotWritten {
        file: file.to_owned(),
        source,
    })
}

fn replace(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let directory = directory_of(file);
    let mut new = tempfile::Builder::new()
        .prefix(".snapshot")
        .tempfile_in(directory)?;
    new.write_all(bytes)?;
    // On the disk before it has the name, and the name before anybody is told.
    new.as_file().sync_all()?;
    new.persist(file)?;
    File::open(directory)?.sync_all()
}

fn directory_of(file: &Path) -> &Path {
    match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

// === impl DataFile ===

impl DataFile {
    /// Takes the file for this server, and reads what is in it, if it is there.
    pub(crate) fn open(path: &Path) -> Result<(Self, Option<Snapshot>), SnapshotError> {
        let not_read = |source| SnapshotError::NotRead {
            file: path.to_owned(),
            source,
        };
        let mut beside = path.as_os_str().to_owned();
        beside.push(".lock");
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&beside)
            .map_err(not_read)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(SnapshotError::InUse {
                    file: path.to_owned(),
                });
            }
            Err(TryLockError::Error(source)) => return Err(not_read(source)),
        }
        let snapshot = read(path)?;
        let data = Self {
            path: path.to_owned(),
            _lock: lock,
            saved: Mutex::default(),
        };
        Ok((data, snapshot))
    }

    /// Whether the file may hold another state than the one at `revision`, when so many random words were drawn for objects.
    pub(crate) fn is_behind(&self, revision: Revision, drawn: u64) -> bool {
        *self.saved.lock().unwrap_or_else(PoisonError::into_inner) != Some((revision, drawn))
    }

    /// Writes `snapshot`. Of several writers at once, each writes whole.
    pub(crate) fn save(&self, snapshot: &Snapshot) -> Result<(), SnapshotError> {
        let mut saved = self.saved.lock().unwrap_or_else(PoisonError::into_inner);
        snapshot.write(&self.path)?;
        *saved = Some((snapshot.revision, snapshot.drawn.objects));
        Ok(())
    }
}
