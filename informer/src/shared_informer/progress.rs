//! Waiting until the cache shows a version: read your own writes.

use std::{cmp::Ordering, sync::Arc, time::Duration};

use tokio::sync::Notify;

use super::{SyncStatus, sync::SyncState};
use crate::{
    indexer::{Indexer, Snapshot},
    object::{Metadata, Object, ObjectKey, ResourceVersion},
};

/// A wait for a version that ended without success.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WaitError {
    /// Not within the limit. Waiting again is useful if what is named can pass; where nothing that the informer selects
    /// changes, only the server's next bookmark takes it on, about once a minute.
    #[error("{resource} at {held:?}, not at {version:?} within {limit:?}: {status}")]
    Deadline {
        /// The resource that the informer mirrors.
        resource: Arc<str>,
        /// The version that was waited for.
        version: ResourceVersion,
        /// The version of the cache.
        held: ResourceVersion,
        /// The time limit of the wait.
        limit: Duration,
        /// The status of the informer.
        status: Box<SyncStatus>,
    },
    /// The informer stopped before. Its cache never will show it.
    #[error("the informer of {resource} stopped at {held:?}, before {version:?}")]
    Stopped {
        /// The resource that the informer mirrors.
        resource: Arc<str>,
        /// The version that was waited for.
        version: ResourceVersion,
        /// The version of the cache.
        held: ResourceVersion,
    },
    /// The versions cannot be compared: the one that was waited for is empty or not a version of this
    /// server's, or the server does not count its versions. Waiting again is useless.
    #[error("versions {version:?} and {held:?} of {resource} cannot be compared")]
    NotComparable {
        /// The resource that the informer mirrors.
        resource: Arc<str>,
        /// The version that was waited for.
        version: ResourceVersion,
        /// The version of the cache.
        held: ResourceVersion,
    },
    /// The name belongs to another object by now: the one that was written is gone. Waiting again is useless.
    #[error("{resource} {key} is another object by now")]
    OtherObject {
        /// The resource that the informer mirrors.
        resource: Arc<str>,
        /// The key of both.
        key: ObjectKey,
        /// The uid of the object that has the name now.
        uid: Arc<str>,
    },
}

/// Wakes all who wait for the cache to move; each looks for itself whether it moved far enough.
#[derive(Debug, Default)]
pub(super) struct Progress(Notify);

// === impl WaitError ===

impl WaitError {
    /// Returns true if the time limit was reached. All other errors are final.
    pub fn is_deadline(&self) -> bool {
        matches!(self, Self::Deadline { .. })
    }

    /// Returns true if the informer has stopped.
    pub fn is_stopped(&self) -> bool {
        matches!(self, Self::Stopped { .. })
    }
}

// === impl Progress ===

impl Progress {
    /// The cache shows more than before.
    pub(super) fn advance(&self) {
        self.0.notify_waiters();
    }

    /// Resolves with what `look` finds in the cache, now or after a change.
    pub(super) async fn wait_for<T>(&self, look: impl Fn() -> Option<T>) -> T {
        loop {
            // Listens before it looks, so that no change is lost in between.
            let moved = self.0.notified();
            let mut moved = std::pin::pin!(moved);
            moved.as_mut().enable();
            if let Some(found) = look() {
                return found;
            }
            moved.await;
        }
    }
}

/// One informer's cache and how it moves.
pub(super) struct Waiter<'a, K> {
    pub(super) indexer: &'a Indexer<K>,
    pub(super) sync: &'a SyncState,
    pub(super) progress: &'a Progress,
}

// === impl Waiter ===

impl<K> Waiter<'_, K> {
    pub(super) async fn wait_until(
        &self,
        version: &ResourceVersion,
        limit: Duration,
    ) -> Result<(), WaitError> {
        self.wait(version, limit, |snapshot| self.reached(snapshot, version))
            .await
    }

    pub(super) async fn written(
        &self,
        written: &Metadata,
        limit: Duration,
    ) -> Result<Option<Object<K>>, WaitError> {
        let version = &written.resource_version;
        self.wait(version, limit, |snapshot| {
            let held = snapshot.get(&written.key);
            // The very version that was written needs no comparison.
            if let Some(held) = held.filter(|held| is_written(held, written)) {
                return Some(Ok(Some(held.clone())));
            }
            if let Err(error) = self.reached(snapshot, version)? {
                return Some(Err(error));
            }
            Some(match held {
                Some(held) if held.metadata().is_other_than(written) => {
                    Err(WaitError::OtherObject {
                        resource: Arc::clone(self.sync.resource()),
                        key: written.key.clone(),
                        uid: held.uid().into(),
                    })
                }
                held => Ok(held.cloned()),
            })
        })
        .await
    }

    /// Waits until there is no object of `key`.
    #[cfg(feature = "controller")]
    pub(super) async fn lacks(&self, key: &ObjectKey, limit: Duration) -> Result<(), WaitError> {
        let version = ResourceVersion::default();
        let look = |snapshot: &Snapshot<K>| snapshot.get(key).is_none().then_some(Ok(()));
        self.wait(&version, limit, look).await
    }

    /// Returns the outcome of the wait if the cache shows `version` or a later one; `None` if not yet.
    fn reached(
        &self,
        snapshot: &Snapshot<K>,
        version: &ResourceVersion,
    ) -> Option<Result<(), WaitError>> {
        let held = snapshot.resource_version();
        if held == version && !held.is_unknown() {
            return Some(Ok(()));
        }
        // Before the first list nothing is known but whether the question makes sense.
        let other = if held.is_unknown() { version } else { held };
        match other.compare(version) {
            None => Some(Err(WaitError::NotComparable {
                resource: Arc::clone(self.sync.resource()),
                version: version.clone(),
                held: held.clone(),
            })),
            Some(Ordering::Less) => None,
            Some(_) if held.is_unknown() => None,
            Some(_) => Some(Ok(())),
        }
    }

    async fn wait<T>(
        &self,
        version: &ResourceVersion,
        limit: Duration,
        look: impl Fn(&Snapshot<K>) -> Option<Result<T, WaitError>>,
    ) -> Result<T, WaitError> {
        let resource = || Arc::clone(self.sync.resource());
        tokio::select! {
            biased;
            // What the cache shows counts, also after the end and with no time left.
            outcome = self.progress.wait_for(|| look(&self.indexer.snapshot())) => outcome,
            () = self.sync.ended() => Err(WaitError::Stopped {
                resource: resource(),
                version: version.clone(),
                held: self.indexer.resource_version(),
            }),
            () = tokio::time::sleep(limit) => Err(WaitError::Deadline {
                resource: resource(),
                version: version.clone(),
                held: self.indexer.resource_version(),
                limit,
                status: Box::new(self.sync.status()),
            }),
        }
    }
}

fn is_written<K>(held: &Object<K>, written: &Metadata) -> bool {
    *held.resource_version() == written.resource_version
        && !written.resource_version.is_unknown()
        && !held.metadata().is_other_than(written)
}
