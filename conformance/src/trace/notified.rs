//! Notifications of handlers.

use super::member::{Key, State};

/// The notification of a handler, and the content of the cache at that moment.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "tests write them by hand")]
pub struct HandlerNotification {
    /// The informer.
    pub informer: usize,
    /// The number of the handler at its informer.
    pub handler: usize,
    /// The object's key.
    pub key: Key,
    /// The notification.
    pub change: NotifiedChange,
    /// Its cause, if the subject tells causes.
    pub cause: Option<NotifiedCause>,
    /// The state in the cache under that key.
    pub cached: Option<State>,
}

/// A notification about an object.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "complete by definition")]
pub enum NotifiedChange {
    /// The object is new.
    Added {
        /// Its state.
        new: State,
        /// True if it belongs to the initial state.
        is_initial: bool,
    },
    /// The object changed.
    Updated {
        /// The old state.
        old: State,
        /// The new state.
        new: State,
    },
    /// The object is gone.
    Deleted {
        /// The last known state; with the version of the deletion if that was seen.
        last: Option<State>,
        /// True if the deletion was missed and found out later.
        is_tombstone: bool,
    },
}

/// The cause of a notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::exhaustive_enums, reason = "complete by definition")]
pub enum NotifiedCause {
    /// It belongs to the initial state.
    Initial,
    /// A watch brought the change.
    Live,
    /// A later list showed the change.
    Relist,
    /// The period of resyncs has passed.
    Resync,
}

// === impl HandlerNotification ===

impl HandlerNotification {
    /// Returns the state in the notification: the new one, or the last one.
    pub fn state(&self) -> Option<&State> {
        match &self.change {
            NotifiedChange::Added { new, .. } | NotifiedChange::Updated { new, .. } => Some(new),
            NotifiedChange::Deleted { last, .. } => last.as_ref(),
        }
    }
}
