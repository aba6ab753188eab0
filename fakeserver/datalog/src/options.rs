//! The mode of syncs, and the limits of the writer.

use std::time::Duration;

/// The time at which commits are on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "complete by definition: before they are acknowledged, or later"
)]
pub enum SyncMode {
    /// Before they are acknowledged.
    Acknowledged,
    /// At most this time after they were committed.
    Interval(Duration),
}

/// The limits of a writer.
#[derive(Debug, Clone)]
#[expect(clippy::exhaustive_structs, reason = "options that their owner sets")]
pub struct WriterOptions {
    /// The time at which commits are on the disk.
    pub mode: SyncMode,
    /// The longest wait for a sync.
    pub wait_limit: Duration,
    /// The time until a failed write is tried again.
    pub retry: Duration,
    /// The bytes that may wait.
    pub queue_bytes_max: usize,
    /// The length of a log below which no snapshot is taken.
    pub log_bytes_min: u64,
    /// True if snapshots are written beside the log, on another thread.
    pub has_background: bool,
}

// === impl SyncMode ===

impl SyncMode {
    /// Returns whether nothing is acknowledged before it is on the disk.
    pub(crate) fn holds_back(self) -> bool {
        self == Self::Acknowledged
    }
}
