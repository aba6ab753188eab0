//! Errors of a factory and its views.

use std::{fmt, sync::Arc, time::Duration};

use crate::shared_informer::SyncError;

/// Some informers were not synced in time. Waiting again is useful for those whose last error can pass.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{} of {informer_count} informers not synced within {limit:?}: {}", .unsynced.len(), List(.unsynced))]
#[non_exhaustive]
pub struct CacheSyncError {
    /// The time limit.
    pub limit: Duration,
    /// The number of informers that were waited for.
    pub informer_count: usize,
    /// Those that are not synced, in order of their resources. Never empty.
    pub unsynced: Vec<UnsyncedInformer>,
}

/// An informer that is not synced, and what keeps it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnsyncedInformer {
    /// Which one: resource, representation, namespace and selectors.
    pub informer: Arc<str>,
    /// Its progress, and its last error.
    pub error: SyncError,
}

/// A namespace was asked for that is not watched. Ask a factory with another scope.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("namespace {namespace:?} of {resource} is not watched")]
#[non_exhaustive]
pub struct OutOfScope {
    /// The watched resource.
    pub resource: Arc<str>,
    /// The namespace that is not watched.
    pub namespace: Arc<str>,
}

struct List<'a>(&'a [UnsyncedInformer]);

// === impl UnsyncedInformer ===

impl fmt::Display for UnsyncedInformer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (SyncError::Deadline { status, .. } | SyncError::Stopped { status, .. }) = &self.error;
        write!(f, "{} ({status})", self.informer)
    }
}

// === impl List ===

impl fmt::Display for List<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, unsynced) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{unsynced}")?;
        }
        Ok(())
    }
}
