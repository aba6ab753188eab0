//! The log of one run of a container, which readers share and follow.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{
    log::{Line, Log},
    reader::{LogReader, LogSelection},
};

/// A [`Log`], and the signal that it has changed.
#[derive(Debug, Default)]
pub(crate) struct SharedLog {
    log: Mutex<Log>,
    changed: watch::Sender<()>,
}

/// Follows a log until the container has ended, or its client is to leave.
#[derive(Debug)]
pub(crate) struct LogFollower {
    log: Arc<SharedLog>,
    changed: watch::Receiver<()>,
    reader: LogReader,
    leave: CancellationToken,
}

// === impl SharedLog ===

impl SharedLog {
    /// Changes the log, and wakes its followers.
    pub(super) fn change(&self, change: impl FnOnce(&mut Log)) {
        change(&mut self.lock());
        self.changed.send_replace(());
    }

    pub(super) fn is_ended(&self) -> bool {
        self.lock().is_ended()
    }

    /// Returns the selected lines of the present log.
    pub(crate) fn read(&self, selection: LogSelection) -> Vec<Bytes> {
        let log = self.lock();
        let mut reader = LogReader::new(&log, selection);
        let pieces = std::iter::from_fn(|| {
            let text = reader.read_text(&log);
            (!text.is_empty()).then_some(text)
        });
        pieces.collect()
    }

    /// Follows what `selection` selects of the log, until `leave` fires.
    pub(crate) fn follow(
        self: Arc<Self>,
        selection: LogSelection,
        leave: CancellationToken,
    ) -> LogFollower {
        let reader = LogReader::new(&self.lock(), selection);
        LogFollower::new(self, reader, leave)
    }

    /// Follows lines that are written from now on, until `leave` fires.
    pub(crate) fn follow_from_end(self: Arc<Self>, leave: CancellationToken) -> LogFollower {
        let reader = LogReader::at_end(&self.lock());
        LogFollower::new(self, reader, leave)
    }

    fn lock(&self) -> MutexGuard<'_, Log> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// === impl LogFollower ===

impl LogFollower {
    fn new(log: Arc<SharedLog>, reader: LogReader, leave: CancellationToken) -> Self {
        Self {
            changed: log.changed.subscribe(),
            log,
            reader,
            leave,
        }
    }

    /// Waits for further text. Returns `None` at the end.
    ///
    /// # Cancel safety
    ///
    /// No line is lost if the future is dropped.
    pub(crate) async fn next_text(&mut self) -> Option<Bytes> {
        self.next(|reader, log| Some(reader.read_text(log)).filter(|text| !text.is_empty()))
            .await
    }

    /// Waits for further lines. Returns `None` at the end.
    ///
    /// # Cancel safety
    ///
    /// No line is lost if the future is dropped.
    pub(crate) async fn next_lines(&mut self) -> Option<Vec<Line>> {
        self.next(|reader, log| Some(reader.read_lines(log)).filter(|lines| !lines.is_empty()))
            .await
    }

    /// Returns whether the client is to leave, whether or not the container has ended.
    pub(crate) fn is_leaving(&self) -> bool {
        self.leave.is_cancelled()
    }

    /// Waits for the end.
    ///
    /// # Cancel safety
    ///
    /// The future can be dropped, and the function called again.
    pub(crate) async fn ended(&mut self) {
        while self.next_lines().await.is_some() {}
    }

    async fn next<T>(
        &mut self,
        mut read: impl FnMut(&mut LogReader, &Log) -> Option<T>,
    ) -> Option<T> {
        loop {
            self.changed.mark_unchanged();
            {
                let log = self.log.lock();
                let found = read(&mut self.reader, &log);
                if found.is_some() || log.is_ended() || self.reader.is_full() {
                    return found;
                }
            }
            tokio::select! {
                biased;
                () = self.leave.cancelled() => return None,
                changed = self.changed.changed() => changed.ok()?,
            }
        }
    }
}
