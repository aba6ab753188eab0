//! Snapshots in files: one server a file, and atomic writes.

use std::{
    fs::{self, File, TryLockError},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use super::{Snapshot, SnapshotError, format};
use fakeserver_value::revision::Revision;

/// The file that a server keeps its state in. It is the server's alone as long as this lives.
#[derive(Debug)]
pub struct DataFile {
    /// The real path: the name that it was opened by may be a link.
    path: PathBuf,
    /// The lock is on a file beside it, since the file itself is replaced by each write.
    _lock: File,
    saved: Mutex<Option<Mark>>,
}

/// A file that is removed unless it takes the place of another one.
#[derive(Debug)]
struct NewFile {
    path: PathBuf,
    file: File,
    is_in_place: bool,
}

/// The mark of a state: a server that was reset comes by the same revisions again, but has drawn more uids.
type Mark = (Revision, u64);

/// Reads the snapshot in `file`, if the file exists.
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
    // Others may write the same file, or have left theirs.
    let is_taken = |error: &io::Error| error.kind() == io::ErrorKind::AlreadyExists;
    let mut number = 0_u32;
    let new = loop {
        let new = NewFile::create(beside(file, &format!(".{number}.new")));
        if !new.as_ref().is_err_and(is_taken) {
            break new;
        }
        number += 1;
    };
    new.and_then(|new| replace(file, new, bytes))
        .map_err(|source| write_error(file, source))
}

fn write_error(file: &Path, source: io::Error) -> SnapshotError {
    SnapshotError::NotWritten {
        file: file.to_owned(),
        source,
    }
}

/// Replaces `file` by `new`, which gets `bytes`.
fn replace(file: &Path, mut new: NewFile, bytes: &[u8]) -> io::Result<()> {
    new.file.write_all(bytes)?;
    // The file is synced before it is renamed, and its directory before the write is reported.
    new.file.sync_all()?;
    fs::rename(&new.path, file)?;
    new.is_in_place = true;
    File::open(directory_of(file))?.sync_all()
}

/// A new file to replace `file` by, always of the same name: what a server that was killed has left is removed.
fn successor(file: &Path) -> io::Result<NewFile> {
    let name = beside(file, ".new");
    match may_be_snapshot(&name)? {
        Some(true) => fs::remove_file(&name)?,
        Some(false) => {
            let why = format!("{} is no snapshot: move it away", name.display());
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, why));
        }
        None => {}
    }
    NewFile::create(name)
}

/// Returns whether a file begins like a snapshot; `None` if it does not exist.
fn may_be_snapshot(file: &Path) -> io::Result<Option<bool>> {
    match File::open(file) {
        Ok(opened) => {
            let mut head = Vec::new();
            opened.take(64).read_to_end(&mut head)?;
            Ok(Some(format::is_header(&head)))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn beside(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// Resolves all links of `file`, which may not exist yet.
pub fn resolve(file: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let directory = directory_of(file);
            if let Ok(target) = fs::read_link(file) {
                return resolve(&directory.join(target));
            }
            let name = file.file_name().ok_or(error)?;
            Ok(fs::canonicalize(directory)?.join(name))
        }
        resolved => resolved,
    }
}

pub fn directory_of(file: &Path) -> &Path {
    match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

// === impl NewFile ===

impl NewFile {
    /// Creates a file that only its owner can read, as secrets are in it. It must not exist.
    fn create(path: PathBuf) -> io::Result<Self> {
        let mut options = File::options();
        // `create_new` follows no link that somebody has put there.
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        Ok(Self {
            file: options.open(&path)?,
            path,
            is_in_place: false,
        })
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if !self.is_in_place {
            // A leftover temporary file does no harm, so the error is ignored.
            let _ = fs::remove_file(&self.path);
        }
    }
}

// === impl DataFile ===

impl DataFile {
    /// Takes the file for this server, and reads what is in it, if it is there.
    pub fn open(path: &Path) -> Result<(Self, Option<Snapshot>), SnapshotError> {
        let not_read = |source| SnapshotError::NotRead {
            file: path.to_owned(),
            source,
        };
        let resolved = resolve(path).map_err(not_read)?;
        if may_be_snapshot(&resolved).map_err(not_read)? == Some(false) {
            // Opening fails before the lock file is created beside a foreign file.
            read(path)?;
        }
        let lock = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .open(beside(&resolved, ".lock"))
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
        // Fails at the start of the server, and not at its first save.
        drop(successor(&resolved).map_err(|source| write_error(path, source))?);
        let data = Self {
            path: resolved,
            _lock: lock,
            saved: Mutex::default(),
        };
        Ok((data, snapshot))
    }

    /// Returns whether the file may hold another state than that of `revision` with `drawn` random words.
    pub fn is_behind(&self, revision: Revision, drawn: u64) -> bool {
        *self.saved.lock().unwrap_or_else(PoisonError::into_inner) != Some((revision, drawn))
    }

    /// Writes the snapshot that `take` takes. Of several writers at once, each takes and writes its own before the next
    /// one does, so that none goes back behind another.
    pub fn save(&self, take: impl FnOnce() -> Snapshot) -> Result<(), SnapshotError> {
        let mut saved = self.saved.lock().unwrap_or_else(PoisonError::into_inner);
        // Under the lock: a later save has a later state.
        let snapshot = take();
        successor(&self.path)
            .and_then(|new| replace(&self.path, new, &snapshot.to_bytes()))
            .map_err(|source| write_error(&self.path, source))?;
        // Only after the rename: a failed save leaves the file behind.
        *saved = Some((snapshot.revision, snapshot.drawn.objects));
        Ok(())
    }
}
