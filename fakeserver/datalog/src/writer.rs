//! The writer: appends what waits, publishes what is on the disk, and takes snapshots.

use std::{io, sync::Arc};

use tracing::{info, warn};

use crate::{
    backlog::Backlog, disk::Disk, files::Files, options::WriterOptions, queue::Entry, record,
    snapshot_id::SnapshotId, task::Background,
};

/// The number of bytes that are appended by one write.
const BATCH_BYTES_MAX: usize = 4 << 20;

/// A snapshot of a state, encoded.
#[derive(Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "complete by definition: the bytes, and what they are of"
)]
pub struct Capture {
    /// The content of the file.
    pub bytes: Vec<u8>,
    /// The facts in it.
    pub id: SnapshotId,
    /// The revision at which the state stood.
    pub revision: u64,
    /// The number of replacements of the state.
    pub epoch: u64,
}

/// A snapshot in place that has the whole state.
#[derive(Debug, Clone)]
#[expect(
    clippy::exhaustive_structs,
    reason = "complete by definition: the facts in it, its revision and its length"
)]
pub struct CurrentSnapshot {
    /// The facts in it.
    pub id: SnapshotId,
    /// The revision of the state.
    pub revision: u64,
    /// The length of the file.
    pub bytes: u64,
}

/// The owner of a state: encodes its commits, and takes snapshots of it.
pub trait Source: Send + Sync + 'static {
    /// A commit.
    type Commit: Send + 'static;

    /// Appends the encoded commit to `out`, on one line.
    fn encode(&self, commit: &Self::Commit, out: &mut Vec<u8>);

    /// Takes a snapshot that names `after` as the one whose log it replaces.
    fn capture(&self, after: Option<&str>) -> Capture;
}

/// The effect of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "complete by definition: nothing to do, done, or to be done again"
)]
pub enum Turn {
    /// There was nothing to do.
    Idle,
    /// Something was done, and there may be more.
    Worked,
    /// The disk has failed. The next turn tries again.
    Failed,
}

/// Writes the commits of a backlog to a disk.
pub struct Writer<D: Disk, S: Source> {
    files: Files<D>,
    source: Arc<S>,
    backlog: Arc<Backlog<S::Commit>>,
    options: WriterOptions,
    /// The commits that could not be appended.
    batch: Option<Batch<S::Commit>>,
    /// The number of the last commit in the log or in its snapshot.
    synced: u64,
    /// The length of the log at which a snapshot is due.
    snapshot_due: u64,
    compaction: Option<Compaction>,
    is_failing: bool,
}

struct Batch<C> {
    entries: Vec<Entry<C>>,
    epoch: u64,
}

/// The point of a state at which a snapshot was taken.
struct Point {
    sequence: u64,
    revision: u64,
    epoch: u64,
}

/// A snapshot that is on the disk, but not in place.
struct WrittenSnapshot {
    id: SnapshotId,
    point: Point,
    bytes: u64,
}

/// A snapshot that is being written beside the log.
struct Compaction {
    work: Background<io::Result<WrittenSnapshot>>,
    /// The length of the log when it began: all records of before are in the snapshot.
    log_bytes: u64,
}

// === impl Writer ===

impl<D: Disk, S: Source> Writer<D, S> {
    /// Begins a log: behind the snapshot in place, if that is `current`, or else behind a new one.
    ///
    /// # Errors
    ///
    /// The disk has failed. What was on it is still there.
    pub fn begin(
        files: Files<D>,
        source: Arc<S>,
        backlog: Arc<Backlog<S::Commit>>,
        options: WriterOptions,
        current: Option<&CurrentSnapshot>,
    ) -> io::Result<Self> {
        let mut writer = Self {
            files,
            source,
            backlog,
            options,
            batch: None,
            synced: 0,
            snapshot_due: 0,
            compaction: None,
            is_failing: false,
        };
        let Some(CurrentSnapshot {
            id,
            revision,
            bytes,
        }) = current
        else {
            writer.replace_all()?;
            return Ok(writer);
        };
        writer.files.begin_log(&id.mark, id.sequence, &[])?;
        let (_, epoch) = writer.backlog.position();
        writer.continue_behind(&Point {
            sequence: id.sequence,
            revision: *revision,
            epoch,
        });
        writer.set_due(*bytes);
        Ok(writer)
    }

    /// Does what is due, at most one write and one sync of records, or one snapshot.
    pub fn turn(&mut self) -> Turn {
        let is_done = self
            .compaction
            .as_ref()
            .is_some_and(|compaction| compaction.work.is_done());
        if is_done {
            self.finish_compaction();
        }
        let needs_snapshot = self.backlog.with_queue(|queue| queue.needs_snapshot());
        let worked = if needs_snapshot || self.backlog.has_requests() {
            self.snapshot().map(|()| true)
        } else {
            self.append()
        };
        match worked {
            Ok(true) => {
                if self.is_failing {
                    info!("the log advances again");
                }
                self.is_failing = false;
                Turn::Worked
            }
            Ok(false) => Turn::Idle,
            Err(error) => {
                self.stall(&error);
                Turn::Failed
            }
        }
    }

    /// Ends, after what waits was written as far as that is possible.
    pub fn close(mut self) -> io::Result<()> {
        // A snapshot that is being written is put in place or left alone; the log has everything.
        self.finish_compaction();
        while self.turn() == Turn::Worked {}
        self.finish_compaction();
        self.files.close()
    }

    /// Appends what waits. Returns false if nothing does.
    fn append(&mut self) -> io::Result<bool> {
        if self.batch.is_none() {
            let (entries, epoch) = self.backlog.take(BATCH_BYTES_MAX);
            self.batch = (!entries.is_empty()).then_some(Batch { entries, epoch });
        }
        let Some(batch) = &self.batch else {
            return Ok(false);
        };
        let mut bytes = Vec::new();
        for entry in &batch.entries {
            record::print(&mut bytes, entry.sequence, self.synced, |out| {
                self.source.encode(&entry.commit, out);
            });
        }
        self.files.append(&bytes)?;
        self.backlog.durability().count_sync();
        let last = batch.entries.last().expect("no batch is empty");
        self.synced = last.sequence;
        self.backlog
            .publish(last.sequence, last.revision, batch.epoch);
        self.batch = None;
        if self.files.log_bytes() > self.snapshot_due && self.compaction.is_none() {
            self.begin_compaction();
        }
        Ok(true)
    }

    /// Takes a snapshot, and puts it in place of all that waits.
    fn snapshot(&mut self) -> io::Result<()> {
        self.finish_compaction();
        let requests = self.backlog.take_requests();
        let done = self.replace_all();
        for request in requests {
            let answer = match &done {
                Ok(()) => Ok(()),
                Err(error) => Err(io::Error::new(error.kind(), error.to_string())),
            };
            // Who has left in the meantime needs no answer.
            let _ = request.send(answer);
        }
        done
    }

    fn replace_all(&mut self) -> io::Result<()> {
        let capture = self.source.capture(self.files.base());
        Files::write_snapshot(&**self.files.disk(), &capture.bytes)?;
        // All records of the log are in it.
        let log_bytes = self.files.log_bytes();
        self.files.put_in_place(&capture.id, log_bytes)?;
        self.continue_behind(&capture.point());
        self.set_due(capture.bytes.len() as u64);
        Ok(())
    }

    /// Starts to write a snapshot beside the log.
    fn begin_compaction(&mut self) {
        let (source, disk) = (Arc::clone(&self.source), Arc::clone(self.files.disk()));
        let after = self.files.base().map(str::to_owned);
        let backlog = Arc::clone(&self.backlog);
        let write = move || {
            let capture = source.capture(after.as_deref());
            let written = Files::write_snapshot(&*disk, &capture.bytes);
            backlog.wake();
            written.map(|()| WrittenSnapshot {
                point: capture.point(),
                bytes: capture.bytes.len() as u64,
                id: capture.id,
            })
        };
        match Background::start(self.options.has_background, write) {
            Ok(work) => {
                let log_bytes = self.files.log_bytes();
                self.compaction = Some(Compaction { work, log_bytes });
            }
            Err(error) => self.postpone(&error),
        }
    }

    /// Puts the snapshot in place that was written beside the log, if there is one.
    fn finish_compaction(&mut self) {
        let Some(Compaction { work, log_bytes }) = self.compaction.take() else {
            return;
        };
        let put = work.join().and_then(|written| {
            self.files.put_in_place(&written.id, log_bytes)?;
            Ok(written)
        });
        match put {
            Ok(written) => {
                self.continue_behind(&written.point);
                self.set_due(written.bytes);
            }
            Err(error) => self.postpone(&error),
        }
    }

    /// Tries to compact again later.
    fn postpone(&mut self, error: &io::Error) {
        warn!(%error, "the log was not compacted; it is tried again when the log has grown by half");
        self.snapshot_due = self.files.log_bytes() + self.files.log_bytes() / 2;
    }

    /// Continues behind a snapshot that is in place: what waits may be in it already.
    fn continue_behind(&mut self, point: &Point) {
        let sequence = point.sequence;
        self.backlog.with_queue(|queue| queue.cover(sequence));
        if let Some(batch) = &mut self.batch {
            batch.entries.retain(|entry| entry.sequence > sequence);
        }
        self.batch = self.batch.take().filter(|batch| !batch.entries.is_empty());
        if sequence >= self.synced {
            self.synced = sequence;
            self.backlog.publish(sequence, point.revision, point.epoch);
        }
    }

    /// Publishes that the disk has failed.
    fn stall(&mut self, error: &io::Error) {
        if !self.is_failing {
            warn!(%error, "the log does not advance; it is tried again");
        }
        self.is_failing = true;
        let reason: Arc<str> = format!("the log cannot be written: {error}").into();
        self.backlog
            .durability()
            .publish(|durable| durable.stall = Some(reason));
    }

    /// Sets when the next snapshot is due: when reading the log takes about as long as reading the snapshot.
    fn set_due(&mut self, snapshot_bytes: u64) {
        self.snapshot_due = snapshot_bytes.max(self.options.log_bytes_min) + self.files.log_bytes();
    }
}

// === impl Capture ===

impl Capture {
    fn point(&self) -> Point {
        Point {
            sequence: self.id.sequence,
            revision: self.revision,
            epoch: self.epoch,
        }
    }
}
