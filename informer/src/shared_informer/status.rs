//! The status of an informer, at any time and as a stream.

use std::{
    collections::BTreeMap,
    fmt,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard},
    task::{Context, Poll, Waker},
};

use futures::Stream;
use tokio::time::Instant;

use super::sync::SyncState;
use crate::reflector::{FailureCause, Phase};

/// The progress of an informer, and its last failure.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SyncStatus {
    /// The phase.
    pub phase: SyncPhase,
    /// Since when.
    pub since: Instant,
    /// True if the first whole state is in the cache and on its way to the handlers.
    pub has_synced: bool,
    /// The number of requests and streams that have failed since it was last whole; all of them before the first time.
    pub failed_attempts: u64,
    /// The class of the last failure since then.
    pub last_cause: Option<FailureCause>,
    /// The last failure since then, with its causes.
    pub last_error: Option<Arc<str>>,
}

/// The phase of an informer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SyncPhase {
    /// The informer was never started.
    NotStarted,
    /// The informer was started and has not sent a request yet.
    Starting,
    /// The phase of its reflector.
    Reflecting(Phase),
    /// The informer has ended.
    Stopped,
}

/// The status of an informer, from now on. Made by
/// [`SharedInformer::status_stream`](super::SharedInformer::status_stream).
///
/// The first item is the present status, at once. Then comes the latest status whenever it has changed since the last item:
/// who is slow misses what is past, but never the latest. It ends after [`SyncPhase::Stopped`].
///
/// The stream does not keep the informer running.
///
/// # Memory
///
/// Nothing waits in it, however slow its reader.
#[derive(Debug)]
#[must_use = "a stream does nothing unless it is polled"]
pub struct StatusStream {
    state: Arc<SyncState>,
    /// Its place among those who wait.
    id: u64,
    /// The change that it gave last; zero before the first item.
    seen: u64,
    is_over: bool,
}

/// The latest status, and the wakers for the next.
#[derive(Debug)]
pub(super) struct StatusCell(Mutex<CurrentStatus>);

#[derive(Debug)]
struct CurrentStatus {
    status: SyncStatus,
    /// Counts the changes, from one.
    change: u64,
    stream_count: u64,
    /// In the order in which the streams were made.
    wakers: BTreeMap<u64, Waker>,
}

// === impl StatusCell ===

impl StatusCell {
    pub(super) fn new(status: SyncStatus) -> Self {
        Self(Mutex::new(CurrentStatus {
            status,
            change: 1,
            stream_count: 0,
            wakers: BTreeMap::new(),
        }))
    }

    /// Changes the status, unless the informer has ended. Wakes all waiting streams if that made a difference.
    pub(super) fn change(&self, change: impl FnOnce(&mut SyncStatus)) {
        let mut current = self.lock();
        if current.status.phase == SyncPhase::Stopped {
            return;
        }
        let before = current.status.clone();
        change(&mut current.status);
        if current.status.phase != before.phase {
            current.status.since = Instant::now();
        }
        if current.status == before {
            return;
        }
        current.change += 1;
        let wakers = std::mem::take(&mut current.wakers);
        drop(current);
        wakers.into_values().for_each(Waker::wake);
    }

    pub(super) fn read<T>(&self, look: impl FnOnce(&SyncStatus) -> T) -> T {
        look(&self.lock().status)
    }

    fn lock(&self) -> MutexGuard<'_, CurrentStatus> {
        self.0
            .lock()
            .expect("nothing panics while it holds the status")
    }
}

// === impl StatusStream ===

impl StatusStream {
    pub(super) fn new(state: Arc<SyncState>) -> Self {
        let mut current = state.status_cell().lock();
        current.stream_count += 1;
        let id = current.stream_count;
        drop(current);
        Self {
            state,
            id,
            seen: 0,
            is_over: false,
        }
    }
}

impl Stream for StatusStream {
    type Item = SyncStatus;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<SyncStatus>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        let state = Arc::clone(&self.state);
        let mut current = state.status_cell().lock();
        if current.change == self.seen {
            current.wakers.insert(self.id, cx.waker().clone());
            return Poll::Pending;
        }
        self.seen = current.change;
        self.is_over = current.status.phase == SyncPhase::Stopped;
        Poll::Ready(Some(current.status.clone()))
    }
}

impl Drop for StatusStream {
    fn drop(&mut self) {
        self.state.status_cell().lock().wakers.remove(&self.id);
    }
}

// === impl SyncStatus ===

impl SyncStatus {
    pub(super) fn not_started() -> Self {
        Self {
            phase: SyncPhase::NotStarted,
            since: Instant::now(),
            has_synced: false,
            failed_attempts: 0,
            last_cause: None,
            last_error: None,
        }
    }

    /// Until when it waits before it tries again or probes, if it does.
    pub fn waits_until(&self) -> Option<Instant> {
        let delay = match self.phase {
            SyncPhase::Reflecting(Phase::BackingOff { delay, .. }) => Some(delay),
            SyncPhase::Reflecting(Phase::Paused { probe_after, .. }) => probe_after,
            _ => None,
        };
        self.since.checked_add(delay?)
    }

    /// Returns true if it has paused, by itself or by its owner's request.
    pub fn is_paused(&self) -> bool {
        matches!(self.phase, SyncPhase::Reflecting(Phase::Paused { .. }))
    }
}

impl fmt::Display for SyncStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            phase,
            failed_attempts,
            ..
        } = self;
        write!(f, "{phase}, failed attempts: {failed_attempts}")?;
        match &self.last_error {
            Some(error) => write!(f, ", last error: {error}"),
            None => Ok(()),
        }
    }
}

// === impl SyncPhase ===

impl fmt::Display for SyncPhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotStarted => f.write_str("not started"),
            Self::Starting => f.write_str("starting"),
            Self::Reflecting(Phase::Listing) => f.write_str("listing"),
            Self::Reflecting(Phase::Connecting) => f.write_str("connecting"),
            Self::Reflecting(Phase::Streaming) => f.write_str("streaming the initial state"),
            Self::Reflecting(Phase::Watching) => f.write_str("watching"),
            Self::Reflecting(Phase::BackingOff { cause, delay }) => {
                write!(f, "backing off for {delay:?} ({cause})")
            }
            Self::Reflecting(Phase::Paused { cause, .. }) => match cause {
                Some(cause) => write!(f, "paused ({cause})"),
                None => f.write_str("paused"),
            },
            Self::Reflecting(Phase::Stopped) => f.write_str("stopped by the error policy"),
            Self::Stopped => f.write_str("stopped"),
        }
    }
}
