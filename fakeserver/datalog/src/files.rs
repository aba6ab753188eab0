//! The order of operations by which a log and its snapshot are on the disk at any time.
//!
//! | operation | after a crash there is |
//! |---|---|
//! | write `FILE.new`, sync it | the old snapshot and its log |
//! | rename it to `FILE`, sync the names | the new snapshot, and the old log, whose records it has |
//! | write `FILE.log.new`, sync it | the same |
//! | rename it to `FILE.log`, sync the names | the new snapshot and its log |

use std::{io, sync::Arc};

use crate::{
    disk::{Disk, DiskFile as _, FileName, write_all},
    record::parse,
    scan,
    snapshot_id::SnapshotId,
};

/// The snapshot and the log on a disk.
#[derive(Debug)]
pub struct Files<D: Disk> {
    disk: Arc<D>,
    /// The mark of the snapshot that the log continues which is in place, even if it is not open.
    base: Option<String>,
    log: Option<OpenLog<D::File>>,
    /// True if the names on the disk may be older than those of the system.
    has_unsynced_names: bool,
}

/// A log that is appended to.
#[derive(Debug)]
struct OpenLog<F> {
    file: F,
    /// The bytes that are on the disk.
    length: u64,
    /// True if there may be others behind them.
    is_dirty: bool,
    has_records: bool,
}

// === impl Files ===

impl<D: Disk> Files<D> {
    /// Begins with what is on the disk. `base` is the mark of the snapshot that the log continues, if there is one.
    pub fn new(disk: Arc<D>, base: Option<String>) -> Self {
        Self {
            disk,
            base,
            log: None,
            has_unsynced_names: false,
        }
    }

    /// Returns the disk.
    pub fn disk(&self) -> &Arc<D> {
        &self.disk
    }

    /// Returns the mark of the snapshot that the log in place continues: the next snapshot has to name it.
    pub fn base(&self) -> Option<&str> {
        self.base.as_deref()
    }

    /// Returns the length of the log.
    pub fn log_bytes(&self) -> u64 {
        self.log.as_ref().map_or(0, |log| log.length)
    }

    /// Appends encoded records, and waits until they are on the disk.
    ///
    /// # Errors
    ///
    /// None of them counts as written. A retry with the same records may succeed.
    pub fn append(&mut self, records: &[u8]) -> io::Result<()> {
        self.sync_names()?;
        let Some(log) = &mut self.log else {
            return Err(io::Error::other("there is no log"));
        };
        if log.is_dirty {
            // What a failed write has left goes first. Its pages are written anew, since a failed sync may have dropped them.
            log.file.truncate(log.length)?;
        }
        log.is_dirty = true;
        write_all(&mut log.file, records)?;
        log.file.sync()?;
        log.is_dirty = false;
        log.has_records = true;
        log.length += records.len() as u64;
        Ok(())
    }

    /// Writes the next snapshot beside the present one. If that fails, its space is free again.
    pub fn write_snapshot(disk: &D, bytes: &[u8]) -> io::Result<()> {
        let write = || {
            let mut file = disk.create(FileName::NextSnapshot)?;
            write_all(&mut file, bytes)?;
            file.sync()
        };
        let written = write();
        if written
            .as_ref()
            .is_err_and(|error| error.kind() != io::ErrorKind::AlreadyExists)
        {
            // The log may need the space. What is left does no harm, so the error is ignored.
            let _ = disk.remove(FileName::NextSnapshot);
        }
        written
    }

    /// Puts the written snapshot in place, and begins its log with those records of the old one that it does not have, from
    /// the byte `from` on.
    ///
    /// # Errors
    ///
    /// The old log goes on, or the new one does if it is in place. A retry needs another snapshot.
    pub fn put_in_place(&mut self, snapshot: &SnapshotId, from: u64) -> io::Result<()> {
        self.replace_snapshot()?;
        let mut records = Vec::new();
        if let Some(log) = &self.log {
            let bytes = self.disk.read(FileName::Log, from)?.unwrap_or_default();
            let synced = usize::try_from(log.length.saturating_sub(from)).unwrap_or(usize::MAX);
            let bytes = &bytes[..synced.min(bytes.len())];
            for line in bytes.split_inclusive(|byte| *byte == b'\n') {
                let record = parse(line.strip_suffix(b"\n").unwrap_or(line));
                if record.is_some_and(|record| record.sequence > snapshot.sequence) {
                    records.extend_from_slice(line);
                }
            }
        }
        self.begin_log(&snapshot.mark, snapshot.sequence, &records)
    }

    /// Puts the written snapshot in place, and removes the log.
    pub fn put_alone(&mut self) -> io::Result<()> {
        self.replace_snapshot()?;
        self.remove_log()
    }

    /// Begins a log that continues the snapshot in place.
    pub fn begin_log(&mut self, base: &str, sequence: u64, records: &[u8]) -> io::Result<()> {
        let mut file = self.disk.create(FileName::NextLog)?;
        let mut bytes = scan::head(base, sequence);
        bytes.extend_from_slice(records);
        write_all(&mut file, &bytes)?;
        file.sync()?;
        self.has_unsynced_names = true;
        self.disk.rename(FileName::NextLog, FileName::Log)?;
        self.base = Some(base.to_owned());
        self.log = Some(OpenLog {
            file,
            length: bytes.len() as u64,
            is_dirty: false,
            has_records: !records.is_empty(),
        });
        // If this fails, a crash may leave the old log with the new snapshot, which is as good. `append` tries again first.
        let _ = self.sync_names();
        Ok(())
    }

    /// Ends: a log without records is removed, so that the snapshot alone is the state.
    pub fn close(mut self) -> io::Result<()> {
        if self.log.as_ref().is_some_and(|log| !log.has_records) {
            self.remove_log()?;
        }
        Ok(())
    }

    fn replace_snapshot(&mut self) -> io::Result<()> {
        self.has_unsynced_names = true;
        self.disk
            .rename(FileName::NextSnapshot, FileName::Snapshot)?;
        // Before the log is replaced or removed: the old snapshot needs it.
        self.sync_names()
    }

    fn remove_log(&mut self) -> io::Result<()> {
        self.log = None;
        self.has_unsynced_names = true;
        self.disk.remove(FileName::Log)?;
        self.base = None;
        self.sync_names()
    }

    fn sync_names(&mut self) -> io::Result<()> {
        if self.has_unsynced_names {
            self.disk.sync_names()?;
            self.has_unsynced_names = false;
        }
        Ok(())
    }
}
