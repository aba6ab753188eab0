//! The limit of concurrent requests.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Limits of concurrent reads and writes. Watches and other long-running requests do not count.
#[derive(Debug, Default)]
pub(super) struct ConcurrencyLimit {
    reading: Option<Arc<Semaphore>>,
    writing: Option<Arc<Semaphore>>,
    /// The number of requests that may be served at a time; 0 if there is no limit.
    total: usize,
}

/// A permit of a request that is being served. The request counts until it is dropped.
#[derive(Debug)]
#[must_use = "a request counts until its slot is dropped"]
pub(super) struct Slot(Option<OwnedSemaphorePermit>);

// === impl ConcurrencyLimit ===

impl ConcurrencyLimit {
    /// Limits concurrent requests: at most `reading` reads and `writing` writes are served at a time. 0 means no limit.
    pub(super) fn new(reading: usize, writing: usize) -> Self {
        let limited = |count: usize| {
            let count = count.min(Semaphore::MAX_PERMITS);
            (count > 0).then(|| Arc::new(Semaphore::new(count)))
        };
        Self {
            reading: limited(reading),
            writing: limited(writing),
            total: reading.saturating_add(writing),
        }
    }

    /// Returns the number of requests that may be served at a time; 0 if there is no limit.
    pub(super) fn total(&self) -> usize {
        self.total
    }

    /// Counts a request, unless there are too many.
    pub(super) fn enter(&self, is_reading: bool) -> Option<Slot> {
        let slots = if is_reading {
            &self.reading
        } else {
            &self.writing
        };
        match slots {
            None => Some(Slot(None)),
            Some(slots) => {
                let permit = Arc::clone(slots).try_acquire_owned().ok()?;
                Some(Slot(Some(permit)))
            }
        }
    }
}

// === impl Slot ===

impl Slot {
    /// Returns whether requests are counted.
    pub(super) fn is_counted(&self) -> bool {
        self.0.is_some()
    }
}
