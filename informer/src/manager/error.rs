//! Errors of managers.

use std::{sync::Arc, time::Duration};

use crate::factory::CacheSyncError;

/// A manager that could not run to its end. A program ends then, and is started again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ManagerError {
    /// The caches were not filled in time: the server is not reached, or forbids to list.
    #[error("the controllers cannot start")]
    Sync(#[from] CacheSyncError),
    /// Another copy leads, or the lease could not be renewed in time. Reconciles under way were dropped.
    #[error("the leadership was lost")]
    LeadershipLost,
    /// Controllers had more queued or under way than they could work off in time; the rest was dropped.
    #[error("the controllers {controllers:?} did not end within {limit:?}")]
    NotDrained {
        /// Their names.
        controllers: Vec<Arc<str>>,
        /// The time limit.
        limit: Duration,
    },
    /// The signals of the process cannot be listened to.
    #[error("no signals")]
    Signals(#[source] std::io::Error),
}

/// Controllers that did not come to rest.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SettleError {
    /// There was always something left to do.
    #[error("the controllers had something to do for {limit:?}; busy at the end: {busy:?}")]
    Deadline {
        /// The time limit.
        limit: Duration,
        /// The names of the controllers that were at work at the end.
        busy: Vec<Arc<str>>,
    },
    /// The manager ended before.
    #[error("the manager has ended")]
    Ended,
}
