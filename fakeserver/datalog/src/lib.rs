//! A log on disk beside a snapshot: what was acknowledged is there after a crash.
//!
//! ```text
//! commit ──► Backlog ──► Writer ──► Files ──► Disk            FILE       a snapshot
//!              │            │   one write and one sync        FILE.log   a head, and the records since the snapshot
//!   Durability ◄────────────┘   for all that waits
//! ```
//!
//! The owner of a state numbers its commits by a [`Backlog`]. The [`Writer`], on a thread of its own, appends them and
//! publishes by the [`Durability`] which of them are on the disk. When the log has grown beyond the snapshot, a new snapshot is
//! written beside the old one, put in place, and the log begins again. This crate knows bytes, numbers and revisions, but
//! nothing of objects: the [`Source`] encodes them.

mod error;
mod record;
mod snapshot_id;
mod scan;
mod disk;
mod directory;
mod files;
mod options;
mod queue;
mod durability;
mod backlog;
mod task;
mod writer;
mod writer_thread;
#[cfg(test)]
mod tests;

pub use self::{
    backlog::Backlog,
    directory::Directory,
    disk::{Disk, DiskFile, FileName},
    durability::{Durability, Durable, WaitError},
    error::Damage,
    files::Files,
    options::{SyncMode, WriterOptions},
    record::Record,
    scan::{LogScan, TornTail, records_after, scan},
    snapshot_id::SnapshotId,
    writer::{Capture, CurrentSnapshot, Source, Turn, Writer},
    writer_thread::WriterThread,
};
