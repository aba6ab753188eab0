//! The progress of an informer's synchronization, and waiting for it.

use std::{sync::Arc, time::Duration};

use super::{
    SyncPhase, SyncStatus,
    status::{StatusCell, StatusStream},
};
use crate::{
    latch::Latch,
    reflector::{Failure, Phase, ReflectorObserver},
};

/// A wait for an informer that ended without success.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SyncError {
    /// Not within the limit; waiting again is useful if what is named can pass.
    #[error("{resource} not synced within {limit:?}: {status}")]
    Deadline {
        /// The resource that the informer mirrors.
        resource: Arc<str>,
        /// The time limit of the wait.
        limit: Duration,
        /// Its status, with the last failure.
        status: SyncStatus,
    },
    /// The informer stopped before. It never will be synced.
    #[error("the informer of {resource} stopped before it was synced: {status}")]
    Stopped {
        /// The resource that the informer mirrors.
        resource: Arc<str>,
        /// Its last status, with the last failure.
        status: SyncStatus,
    },
}

/// Shared by the informer, its tasks and its listers.
#[derive(Debug)]
pub(super) struct SyncState {
    resource: Arc<str>,
    status: StatusCell,
    started: Latch,
    synced: Latch,
    ended: Latch,
}

/// A guard that marks an informer as ended when dropped, for any reason.
#[derive(Debug)]
pub(super) struct EndGuard(pub(super) Arc<SyncState>);

// === impl SyncState ===

impl SyncState {
    pub(super) fn new(resource: Arc<str>) -> Self {
        Self {
            resource,
            status: StatusCell::new(SyncStatus::not_started()),
            started: Latch::default(),
            synced: Latch::default(),
            ended: Latch::default(),
        }
    }

    pub(super) fn mark_started(&self) {
        self.status
            .change(|status| status.phase = SyncPhase::Starting);
        self.started.set();
    }

    /// Returns the signal that the informer was started, or has ended.
    pub(super) fn started(&self) -> &Latch {
        &self.started
    }

    pub(super) fn mark_synced(&self) {
        self.status.change(|status| status.has_synced = true);
        self.synced.set();
    }

    pub(super) fn resource(&self) -> &Arc<str> {
        &self.resource
    }

    pub(super) fn status(&self) -> SyncStatus {
        self.status.read(SyncStatus::clone)
    }

    pub(super) fn status_stream(self: &Arc<Self>) -> StatusStream {
        StatusStream::new(Arc::clone(self))
    }

    pub(super) fn status_cell(&self) -> &StatusCell {
        &self.status
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
}

impl ReflectorObserver for SyncState {
    fn phase_changed(&self, phase: Phase) {
        self.status.change(|status| {
            if phase == Phase::Watching {
                // The store holds a whole state: what failed before is over.
                status.failed_attempts = 0;
                status.last_cause = None;
                status.last_error = None;
            }
            status.phase = SyncPhase::Reflecting(phase);
        });
    }

    fn failed(&self, failure: &Failure<'_>) {
        let error = match failure.error {
            Some(error) => error.in_full(),
            None => failure.cause.to_string(),
        };
        self.status.change(|status| {
            status.failed_attempts += 1;
            status.last_cause = Some(failure.cause);
            status.last_error = Some(error.into());
        });
    }
}

impl Drop for EndGuard {
    fn drop(&mut self) {
        self.0
            .status
            .change(|status| status.phase = SyncPhase::Stopped);
        self.0.started.set();
        self.0.ended.set();
    }
}
