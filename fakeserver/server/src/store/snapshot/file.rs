//! Snapshots in files: one server a file, atomic writes, and the log beside the file.

use std::{
    fs::{self, File, TryLockError},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::Duration,
};

use fakeserver_datalog::{
    Backlog, Capture, CurrentSnapshot, Directory, Disk as _, FileName, Files, SnapshotId, Source,
    SyncMode, Writer, WriterOptions, WriterThread, records_after, scan,
};
use tracing::warn;

use super::{
    DataLog, Snapshot, SnapshotError,
    commits::{Commit, Replay},
    format::{self, LogPlace},
};
use crate::{clock::Clock, entropy::Entropy, store::Storage};
use fakeserver_value::revision::Revision;

/// The longest wait of a request for the disk. A real server gives etcd as long.
const WAIT_LIMIT: Duration = Duration::from_secs(7);
/// The time after which a failed write of the log is tried again.
const RETRY: Duration = Duration::from_millis(100);
/// The bytes that may wait for the log.
const QUEUE_BYTES_MAX: usize = 64 << 20;
/// The length below which a log is not compacted.
const LOG_BYTES_MIN: u64 = 16 << 20;
/// The longest wait for a snapshot that was asked for.
const SAVE_LIMIT: Duration = Duration::from_mins(5);

/// The time at which the state of a server is in its data file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(
    clippy::exhaustive_enums,
    reason = "complete by definition: before an answer, later, or on demand"
)]
pub enum DataSync {
    /// Only when it is [saved](crate::FakeServer::save).
    #[default]
    OnSave,
    /// At most this time after a write was acknowledged: a process that is killed loses what came in it.
    Interval(Duration),
    /// Before a write is acknowledged. Answers and watches of real time wait for the disk, so that a paused clock does not go
    /// with it.
    Acknowledged,
}

/// The file that a server keeps its state in. It is the server's alone as long as this lives.
#[derive(Debug)]
pub struct DataFile {
    /// The real path: the name that it was opened by may be a link.
    path: PathBuf,
    /// Dropped before the lock: what waits is written until then.
    writer: OnceLock<WriterThread<Commit>>,
    log: Arc<DataLog>,
    state: Mutex<FileState>,
    /// The lock is on a file beside it, since the file itself is replaced by each write.
    _lock: File,
}

#[derive(Debug)]
struct FileState {
    /// Taken by the log when it begins.
    files: Option<Files<Directory>>,
    saved: Option<Mark>,
    /// The number of the last commit in the file and its log.
    sequence: u64,
    /// The file, if it has the whole state that was read.
    current: Option<CurrentSnapshot>,
}

/// The parts of a server of which its log takes snapshots.
pub struct StateSource {
    pub storage: Arc<Storage>,
    pub clock: Clock,
    pub entropy: Arc<Entropy>,
    /// Returns the releases of Kubernetes that may have written the objects.
    pub releases: Box<dyn Fn() -> Vec<String> + Send + Sync>,
    pub log: Arc<DataLog>,
}

/// A snapshot file as it is on the disk.
pub(super) struct ReadSnapshot {
    pub(super) snapshot: Snapshot,
    id: SnapshotId,
    bytes: u64,
}

/// The state after the commits of a log.
struct Replayed {
    snapshot: Snapshot,
    /// The number of the last commit.
    sequence: u64,
    /// The mark of the snapshot that the log continues.
    base: String,
    /// True if the log has nothing that the snapshot does not have, and continues it.
    is_unused: bool,
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
pub(super) fn read(file: &Path) -> Result<Option<ReadSnapshot>, SnapshotError> {
    match fs::read(file) {
        Ok(bytes) => {
            let (snapshot, id) = format::parse(file, &bytes)?;
            Ok(Some(ReadSnapshot {
                snapshot,
                id,
                bytes: bytes.len() as u64,
            }))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(read_error(file, source)),
    }
}

fn read_error(file: &Path, source: io::Error) -> SnapshotError {
    SnapshotError::NotRead {
        file: file.to_owned(),
        source,
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
    /// Takes the file for this server, and reads what is in it and in its log, if it is there.
    pub fn open(path: &Path) -> Result<(Self, Option<Snapshot>), SnapshotError> {
        let not_read = |source| read_error(path, source);
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
        let directory = Directory::new(resolved.clone(), format::is_header);
        // Fails at the start of the server, and not at its first save.
        directory
            .clean()
            .map_err(|source| write_error(path, source))?;
        let read = read(path)?;
        let id = read.as_ref().map(|read| read.id.clone());
        let current = read.as_ref().map(|read| CurrentSnapshot {
            id: read.id.clone(),
            revision: read.snapshot.revision.get(),
            bytes: read.bytes,
        });
        let log = directory.read(FileName::Log, 0);
        let (snapshot, state) = match log.map_err(not_read)? {
            None => {
                let state = FileState {
                    sequence: id.map_or(0, |id| id.sequence),
                    files: Some(Files::new(Arc::new(directory), None)),
                    saved: None,
                    current,
                };
                (read.map(|read| read.snapshot), state)
            }
            Some(bytes) => {
                let file = directory.path(FileName::Log);
                let replayed = replay(&file, &bytes, read)?;
                let state = FileState {
                    sequence: replayed.sequence,
                    files: Some(Files::new(Arc::new(directory), Some(replayed.base))),
                    saved: None,
                    // A log with anything in it is compacted: it may have a torn end.
                    current: current.filter(|_| replayed.is_unused),
                };
                (Some(replayed.snapshot), state)
            }
        };
        let data = Self {
            path: resolved,
            writer: OnceLock::new(),
            log: Arc::default(),
            state: Mutex::new(state),
            _lock: lock,
        };
        Ok((data, snapshot))
    }

    /// Returns the sink of the changes of the store.
    pub fn log(&self) -> &Arc<DataLog> {
        &self.log
    }

    /// Begins a log of what `source` commits from now on, behind its present state, that of `read` if nothing has changed. The
    /// state is on the disk when this returns. To be called before anything else can change it.
    pub fn begin_log(
        &self,
        source: StateSource,
        sync: DataSync,
        read: Option<&Snapshot>,
    ) -> Result<(), SnapshotError> {
        let mode = match sync {
            DataSync::OnSave => return Ok(()),
            DataSync::Interval(interval) => SyncMode::Interval(interval),
            DataSync::Acknowledged => SyncMode::Acknowledged,
        };
        let options = WriterOptions {
            mode,
            wait_limit: WAIT_LIMIT,
            retry: RETRY,
            queue_bytes_max: QUEUE_BYTES_MAX,
            log_bytes_min: LOG_BYTES_MIN,
            has_background: true,
        };
        let mut state = self.lock();
        let Some(files) = state.files.take() else {
            return Ok(());
        };
        let backlog = Backlog::new(state.sequence, &options);
        let (clock, entropy) = (source.clock, Arc::clone(&source.entropy));
        self.log.attach(Arc::clone(&backlog), clock, entropy);
        let mark = (source.storage.revision(), source.entropy.position());
        let releases = (source.releases)();
        let is_unchanged = read.is_some_and(|read| {
            let Snapshot {
                kubernetes: writers,
                ..
            } = read;
            (read.revision, read.drawn) == mark && *writers == releases
        });
        let current = state.current.take().filter(|_| is_unchanged);
        let (source, waiting) = (Arc::new(source), Arc::clone(&backlog));
        let started = Writer::begin(files, source, waiting, options.clone(), current.as_ref())
            .and_then(|writer| WriterThread::start(writer, backlog, &options));
        let writer = started.map_err(|source| write_error(&self.path, source))?;
        self.writer.get_or_init(|| writer);
        state.saved = Some((mark.0, mark.1.objects));
        Ok(())
    }

    /// Returns whether the file may hold another state than that of `revision` with `drawn` random words.
    pub fn is_behind(&self, revision: Revision, drawn: u64) -> bool {
        self.lock().saved != Some((revision, drawn))
    }

    /// Writes the snapshot that `take` takes, or the log does if there is one: it is compacted. Of several writers at once,
    /// each takes and writes its own before the next one does, so that none goes back behind another. `mark` is the state of
    /// before the call.
    pub fn save(
        &self,
        mark: (Revision, u64),
        take: impl FnOnce() -> Snapshot,
    ) -> Result<(), SnapshotError> {
        let mut state = self.lock();
        let not_written = |source| write_error(&self.path, source);
        if let Some(backlog) = self.log.backlog() {
            backlog.snapshot(SAVE_LIMIT).map_err(not_written)?;
            state.saved = Some(mark);
            return Ok(());
        }
        // Under the lock: a later save has a later state.
        let snapshot = take();
        let sequence = state.sequence;
        let files = state.files.as_mut().expect("only a log takes the files");
        let place = files.base().map(|base| LogPlace {
            sequence,
            after: Some(base.to_owned()),
        });
        let (bytes, _) = format::print(&snapshot, place);
        Files::write_snapshot(&**files.disk(), &bytes)
            .and_then(|()| files.put_alone())
            .map_err(not_written)?;
        // Only after the rename: a failed save leaves the file behind.
        state.saved = Some((snapshot.revision, snapshot.drawn.objects));
        Ok(())
    }

    /// The state is valid at every step.
    fn lock(&self) -> std::sync::MutexGuard<'_, FileState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Applies the commits in the log `file` to the snapshot.
fn replay(
    file: &Path,
    bytes: &[u8],
    read: Option<ReadSnapshot>,
) -> Result<Replayed, SnapshotError> {
    let damaged = |line, offset, reason| SnapshotError::LogDamaged {
        file: file.to_owned(),
        line,
        offset,
        reason,
    };
    let scanned =
        scan(bytes).map_err(|damage| damaged(damage.line, damage.offset, damage.reason))?;
    let (snapshot, id) = read.map(|read| (read.snapshot, read.id)).unzip();
    let records = records_after(&scanned, id.as_ref()).map_err(|reason| damaged(1, 0, reason))?;
    let (Some(snapshot), Some(id)) = (snapshot, id) else {
        unreachable!("a log without a snapshot is refused");
    };
    if let Some(torn) = &scanned.torn {
        warn!(
            file = %file.display(),
            line = torn.line,
            offset = torn.offset,
            bytes = torn.bytes,
            "the end of the log was not written whole, and is cut off: nothing in it was acknowledged"
        );
    }
    let mut sequence = id.sequence;
    let mut replay = Replay::new(snapshot);
    for record in records {
        let applied = replay.apply(record.payload);
        applied.map_err(|reason| {
            let offset = record.payload.as_ptr() as usize - bytes.as_ptr() as usize;
            // The head is the first line, and each record is one more.
            let line = record.sequence - scanned.sequence + 1;
            damaged(usize::try_from(line).unwrap_or(usize::MAX), offset, reason)
        })?;
        sequence = record.sequence;
    }
    Ok(Replayed {
        snapshot: replay.finish(),
        sequence,
        is_unused: scanned.records.is_empty() && scanned.torn.is_none() && scanned.base == id.mark,
        base: scanned.base,
    })
}

// === impl StateSource ===

impl Source for StateSource {
    type Commit = Commit;

    fn encode(&self, commit: &Commit, out: &mut Vec<u8>) {
        commit.print(out);
    }

    fn capture(&self, after: Option<&str>) -> Capture {
        let backlog = self.log.backlog().expect("the log takes the snapshot");
        let (snapshot, (sequence, epoch)) = Snapshot::take(
            &self.releases,
            &self.storage,
            &self.clock,
            &self.entropy,
            || backlog.position(),
        );
        let after = after.map(str::to_owned);
        let place = LogPlace {
            sequence,
            after: after.clone(),
        };
        let (bytes, mark) = format::print(&snapshot, Some(place));
        Capture {
            bytes,
            id: SnapshotId {
                mark,
                sequence,
                after,
            },
            revision: snapshot.revision.get(),
            epoch,
        }
    }
}
