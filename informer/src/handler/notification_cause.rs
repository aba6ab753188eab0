//! Causes of notifications.

/// The cause of a notification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NotificationCause {
    /// The object existed when the informer started, or when the handler joined.
    Initial,
    /// The server reported a change.
    Live,
    /// A relist found that something had changed meanwhile.
    Relist,
    /// Nothing changed: the handler's resync period has passed.
    Resync,
}

// === impl NotificationCause ===

impl NotificationCause {
    /// Returns whether it belongs to the initial state: `in_initial_list` of [`on_add`](super::EventHandler::on_add).
    pub fn is_initial(self) -> bool {
        self == Self::Initial
    }

    /// Returns whether nothing changed: the cache is repeated.
    pub fn is_resync(self) -> bool {
        self == Self::Resync
    }
}
