//! Seam to the user: handlers and their notifications.

mod notification_cause;
mod notification;
mod funcs;
mod filter;
mod filtering;
mod async_handler;
#[cfg(test)]
mod tests;

use crate::object::{Deleted, Object};

pub use self::{
    async_handler::AsyncEventHandler, filter::Filter, filtering::FilteringHandler,
    funcs::HandlerFuncs, notification::Notification, notification_cause::NotificationCause,
};

/// A receiver of every change of the cache.
///
/// Most handlers have the three methods of client-go. One that needs the cause of a notification has
/// [`on_notification`](Self::on_notification) instead.
///
/// # Ordering
///
/// Calls to one handler come one at a time, and for one key in the order of the cache's states; the cache shows a change
/// before any handler is notified, and may already show later ones. Handlers are independent of each other.
///
/// # Panics
///
/// A panic is contained and reported. That notification is lost; the handler continues with the next.
///
/// # Threads
///
/// Calls run on an async task and must not block its thread. Long work belongs in a [work queue](crate::workqueue); what has
/// to wait, in an [`AsyncEventHandler`]; what has to block, on a thread of its own
/// ([`HandlerOptions::with_blocking`](crate::HandlerOptions::with_blocking)).
#[doc(alias = "ResourceEventHandler")]
#[doc(alias = "TypedResourceEventHandler")]
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not handle notifications of `{K}`",
    label = "no `EventHandler<{K}>`",
    note = "for closures there is `HandlerFuncs::new().with_add(...)`; a type of your own implements `EventHandler<{K}>`",
    note = "what has to wait implements `AsyncEventHandler<{K}>` and is added by `add_async_handler`"
)]
pub trait EventHandler<K>: Send + 'static {
    /// The object is new in the cache; `in_initial_list` for what was there when the informer started, or when this
    /// handler joined.
    fn on_add(&mut self, object: &Object<K>, in_initial_list: bool) {
        let _ = (object, in_initial_list);
    }

    /// The object changed from `old`, which is the last state that this handler received, to `new`. Never another uid.
    /// On a resync both are the same handle.
    fn on_update(&mut self, old: &Object<K>, new: &Object<K>) {
        let _ = (old, new);
    }

    /// The object is gone, or was found to be gone (a tombstone).
    fn on_delete(&mut self, deleted: &Deleted<K>) {
        let _ = deleted;
    }

    /// Handles any of the three, with its [`NotificationCause`]. The default calls the method that the notification is
    /// for.
    ///
    /// Notifications arrive here: a handler that wraps another calls this, not the three.
    #[doc(alias = "ResourceEventHandlerDetailedFuncs")]
    fn on_notification(&mut self, notification: &Notification<K>) {
        notification.dispatch(self);
    }
}
