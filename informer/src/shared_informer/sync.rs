//! How far an informer has come, and waiting for it.

use std::{
    error::Error,
    fmt,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use crate::{
    latch::Latch,
    reflector::{Failure, Phase, ReflectorObserver},
};

/// How far an informer has come, and what kept it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SyncStatus {
    /// What it is doing.
    pub phase: SyncPhase,
    /// How many requests and streams have failed since it was last whole; all of them before the first time.
    pub failed_attempts: u64,
    /// The last failure since then, with its causes.
    pub last_error: Option<Arc<str>>,
}

/// What an informer is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SyncPhase {
    /// It was never started.
    NotStarted,
    /// It was started and has not come to make a request.
    Starting,
    /// What its reflector is doing.
    Reflecting(Phase),
    /// It has ended.
    Stopped,
}

/// A wait for an informer that ended without success.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SyncError {
    /// Not within the limit; waiting again is useful if what is named can pass.
    #[error("{resource} not synced within {limit:?}: {status}")]
    Deadline {
        /// What the informer mirrors.
        resource: Arc<str>,
        /// How long was waited.
        limit: Duration,
        /// How far it has come, and what kept it.
        status: SyncStatus,
    },
    /// The informer stopped before. It never will be synced.
    #[error("the informer of {resource} stopped before it was synced: {status}")]
    Stopped {
        /// What the informer mirrors.
        resource: Arc<str>,
        /// How far it had come, and what had kept it.
        status: SyncStatus,
    },
}

/// Shared by the informer, its tasks and its listers.
#[derive(Debug)]
pub(crate) struct SyncState {
    resource: Arc<str>,
    status: Mutex<SyncStatus>,
    synced: Latch,
    ended: Latch,
}

/// Says that an informer has ended, whatever ended it.
#[derive(Debug)]
pub(super) struct EndGuard(pub(super) Arc<SyncState>);

// === impl SyncState ===

impl SyncState {
    pub(super) fn new(resource: Arc<str>) -> Self {
        Self {
            resource,
            status: Mutex::new(SyncStatus {
                phase: SyncPhase::NotStarted,
                failed_attempts: 0,
                last_error: None,
            }),
            synced: Latch::default(),
            ended: Latch::default(),
        }
    }

    pub(super) fn mark_started(&self) {
        self.lock().phase = SyncPhase::Starting;
    }

    pub(super) fn mark_synced(&self) {
        self.synced.set();
    }

    pub(crate) fn resource(&self) -> &Arc<str> {
        &self.resource
    }

    pub(crate) fn status(&self) -> SyncStatus {
        self.lock().clone()
    }

    pub(crate) fn was_started(&self) -> bool {
        self.lock().phase != SyncPhase::NotStarted
    }

    pub(super) fn has_synced(&self) -> bool {
        self.synced.is_set()
    }

    /// Resolves once the first whole state is shown; loses nothing when dropped.
    pub(super) async fn synced(&self) {
        self.synced.wait().await;
    }

    /// Resolves once the informer has ended; loses nothing when dropped.
    pub(super) async fn ended(&self) {
        self.ended.wait().await;
    }

    pub(super) async fn wait(&self, limit: Duration) -> Result<(), SyncError> {
        let resource = || Arc::clone(&self.resource);
        tokio::select! {
            biased;
            () = self.synced.wait() => Ok(()),
            () = self.ended.wait() => Err(SyncError::Stopped {
                resource: resource(),
                status: self.status(),
            }),
            () = tokio::time::sleep(limit) => Err(SyncError::Deadline {
                resource: resource(),
                limit,
                status: self.status(),
            }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, SyncStatus> {
        self.status
            .lock()
            .expect("nothing panics while it holds the status")
    }
}

impl ReflectorObserver for SyncState {
    fn phase_changed(&self, phase: Phase) {
        let mut status = self.lock();
        if phase == Phase::Watching {
            // The store holds a whole state: what failed before is over.
            status.failed_attempts = 0;
            status.last_error = None;
        }
        status.phase = SyncPhase::Reflecting(phase);
    }

    fn failed(&self, failure: &Failure<'_>) {
        let error = match failure.error {
            Some(error) => with_causes(error),
            None => failure.cause.to_string(),
        };
        let mut status = self.lock();
        status.failed_attempts += 1;
        status.last_error = Some(error.into());
    }
}

impl Drop for EndGuard {
    fn drop(&mut self) {
        self.0.lock().phase = SyncPhase::Stopped;
        self.0.ended.set();
    }
}

/// The messages of an error and of what caused it.
fn with_causes(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

// === impl SyncStatus ===

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
            Self::Stopped => f.write_str("stopped"),
        }
    }
}
