//! Errors of handlers: the end of their notifications, or an incomplete initial state.

use std::{sync::Arc, time::Duration};

/// A wait for a handler that ended without success.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HandlerSyncError {
    /// Not within the limit. Waiting again is useful.
    #[error(
        "handler {handler:?} has not heard the initial state within {limit:?}: {pending} notifications wait, {}",
        if *.is_informer_synced { "the informer is synced" } else { "the informer is not synced" }
    )]
    Deadline {
        /// The handler.
        handler: Arc<str>,
        /// The time limit.
        limit: Duration,
        /// The number of notifications that the handler has not received.
        pending: u64,
        /// True if the wait is for the handler, not for the informer.
        is_informer_synced: bool,
    },
    /// The handler was removed, or the informer stopped, before. It never will be synced.
    #[error("handler {handler:?} ended before it had heard the initial state")]
    Ended {
        /// The handler.
        handler: Arc<str>,
        /// The reason of its end.
        #[source]
        end: HandlerEnd,
    },
}

/// The reason why a handler receives no more notifications.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HandlerEnd {
    /// Its registration was dropped.
    #[error("handler {handler:?} was removed")]
    Removed {
        /// The handler.
        handler: Arc<str>,
    },
    /// More changes waited than its [`Buffer`](super::Buffer) allows. Add it again to begin with the present state.
    #[error("handler {handler:?} was removed, since more than {limit} changes waited for it")]
    Overflowed {
        /// The handler.
        handler: Arc<str>,
        /// The number of changes that may wait.
        limit: usize,
    },
    /// The informer stopped, or had stopped before the handler was added.
    #[error("the informer of handler {handler:?} has stopped")]
    Stopped {
        /// The handler.
        handler: Arc<str>,
    },
}

// === impl HandlerEnd ===

impl HandlerEnd {
    /// Returns whether the handler was removed because it was too slow.
    pub fn is_overflow(&self) -> bool {
        matches!(self, Self::Overflowed { .. })
    }
}
