//! Priorities of items.

use std::fmt;

use crate::handler::Notification;

/// The priority of an item: higher ones are handed out first. The default is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Priority(i32);

// === impl Priority ===

impl Priority {
    /// The priority of an item that was added without one: 0.
    pub const DEFAULT: Self = Self(0);
    /// For what can wait, initial adds and resyncs, so that real changes overtake a start-up or a resync: -100.
    #[doc(alias = "LowPriority")]
    pub const LOW: Self = Self(-100);

    /// The priority `value`.
    pub const fn new(value: i32) -> Self {
        Self(value)
    }

    /// Its number.
    pub const fn get(self) -> i32 {
        self.0
    }

    /// Returns the priority of a notification: [`LOW`](Self::LOW) for an add of the initial list and for an update
    /// without a change (a resync, a relist of an equal version).
    #[doc(alias = "WithLowPriorityWhenUnchanged")]
    pub fn of<K>(notification: &Notification<K>) -> Self {
        let can_wait = match notification {
            Notification::Add { cause, .. } => cause.is_initial(),
            Notification::Update { old, new, cause } => {
                cause.is_resync()
                    || (!new.resource_version().is_unknown()
                        && old.resource_version() == new.resource_version())
            }
            Notification::Delete { .. } => false,
        };
        if can_wait { Self::LOW } else { Self::DEFAULT }
    }
}

impl fmt::Display for Priority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<i32> for Priority {
    fn from(value: i32) -> Self {
        Self(value)
    }
}
