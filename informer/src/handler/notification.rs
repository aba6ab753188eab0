//! A notification for a handler.

use super::{EventHandler, NotificationCause};
use crate::object::{Deleted, Object, ObjectKey};

/// One change for a handler, with its cause.
#[derive(Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "complete by definition: one variant a handler method"
)]
pub enum Notification<K> {
    /// See [`EventHandler::on_add`].
    Add {
        /// The object.
        object: Object<K>,
        /// The cause.
        cause: NotificationCause,
    },
    /// See [`EventHandler::on_update`].
    Update {
        /// The object of this handler's last notification.
        old: Object<K>,
        /// The present object.
        new: Object<K>,
        /// The cause.
        cause: NotificationCause,
    },
    /// See [`EventHandler::on_delete`].
    Delete {
        /// The deleted object, and the way in which the deletion was noticed.
        deleted: Deleted<K>,
        /// The cause.
        cause: NotificationCause,
    },
}

// === impl Notification ===

impl<K> Notification<K> {
    /// The key it is about.
    pub fn key(&self) -> &ObjectKey {
        match self {
            Self::Add { object, .. } => object.key(),
            Self::Update { new, .. } => new.key(),
            Self::Delete { deleted, .. } => deleted.key(),
        }
    }

    /// Returns the cause.
    pub fn cause(&self) -> NotificationCause {
        match self {
            Self::Add { cause, .. } | Self::Update { cause, .. } | Self::Delete { cause, .. } => {
                *cause
            }
        }
    }

    /// The present object, or the last known state of a deleted one.
    pub fn object(&self) -> Option<&Object<K>> {
        match self {
            Self::Add { object, .. } => Some(object),
            Self::Update { new, .. } => Some(new),
            Self::Delete { deleted, .. } => deleted.last_known(),
        }
    }

    /// Calls the one of the handler's three methods that it is for. To notify a handler, call
    /// [`EventHandler::on_notification`].
    pub fn dispatch(&self, handler: &mut (impl EventHandler<K> + ?Sized)) {
        match self {
            Self::Add { object, cause } => handler.on_add(object, cause.is_initial()),
            Self::Update { old, new, .. } => handler.on_update(old, new),
            Self::Delete { deleted, .. } => handler.on_delete(deleted),
        }
    }
}

impl<K> Clone for Notification<K> {
    fn clone(&self) -> Self {
        match self {
            Self::Add { object, cause } => Self::Add {
                object: object.clone(),
                cause: *cause,
            },
            Self::Update { old, new, cause } => Self::Update {
                old: old.clone(),
                new: new.clone(),
                cause: *cause,
            },
            Self::Delete { deleted, cause } => Self::Delete {
                deleted: deleted.clone(),
                cause: *cause,
            },
        }
    }
}
