//! Handlers whose calls are awaited.

use super::Notification;
use crate::object::{Deleted, Object};

/// An [`EventHandler`](super::EventHandler) that may wait: for room in a channel, for an answer, for the clock.
///
/// A closure that takes a [`Notification`] and returns a future is one.
///
/// # Examples
///
/// ```
/// use informer::{Notification, SharedInformer};
/// use k8s_openapi::api::core::v1::Pod;
///
/// fn forward(pods: &SharedInformer<Pod>, to: tokio::sync::mpsc::Sender<Notification<Pod>>) {
///     let handler = move |notification| {
///         let to = to.clone();
///         async move {
///             let _ = to.send(notification).await;
///         }
///     };
///     pods.add_async_handler(handler).detach();
/// }
/// ```
///
/// # Ordering
///
/// A call begins after the one before it was awaited. Notifications that arrive meanwhile wait in the mailbox, under
/// the limit of [`Buffer`](crate::Buffer); they do not delay other handlers.
///
/// # Cancel safety
///
/// A removal, a shutdown and an overflow let the call that runs come to its end. Only when the last handle of the informer is
/// dropped without a [shutdown](crate::SharedInformer::shutdown), the future is dropped at the point where it waits.
///
/// # Panics
///
/// A panic is contained and reported, both before the first await and after it. That notification is lost; the handler
/// continues with the next.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not handle notifications of `{K}` with futures",
    label = "no `AsyncEventHandler<{K}>`",
    note = "a type of your own implements `AsyncEventHandler<{K}>`; what does not wait implements `EventHandler<{K}>` and is added by `add_handler`"
)]
pub trait AsyncEventHandler<K: Send + Sync + 'static>: Send + 'static {
    /// See [`EventHandler::on_add`](super::EventHandler::on_add).
    fn on_add(
        &mut self,
        object: &Object<K>,
        in_initial_list: bool,
    ) -> impl Future<Output = ()> + Send {
        let _ = (object, in_initial_list);
        async {}
    }

    /// See [`EventHandler::on_update`](super::EventHandler::on_update).
    fn on_update(&mut self, old: &Object<K>, new: &Object<K>) -> impl Future<Output = ()> + Send {
        let _ = (old, new);
        async {}
    }

    /// See [`EventHandler::on_delete`](super::EventHandler::on_delete).
    fn on_delete(&mut self, deleted: &Deleted<K>) -> impl Future<Output = ()> + Send {
        let _ = deleted;
        async {}
    }

    /// Any of the three, with its [`NotificationCause`](super::NotificationCause). Unless it is overridden, it calls that one which the notification
    /// is for.
    fn on_notification(
        &mut self,
        notification: &Notification<K>,
    ) -> impl Future<Output = ()> + Send {
        async move {
            match notification {
                Notification::Add { object, cause } => {
                    self.on_add(object, cause.is_initial()).await;
                }
                Notification::Update { old, new, .. } => self.on_update(old, new).await,
                Notification::Delete { deleted, .. } => self.on_delete(deleted).await,
            }
        }
    }
}

impl<K, F, R> AsyncEventHandler<K> for F
where
    K: Send + Sync + 'static,
    F: FnMut(Notification<K>) -> R + Send + 'static,
    R: Future<Output = ()> + Send,
{
    fn on_notification(
        &mut self,
        notification: &Notification<K>,
    ) -> impl Future<Output = ()> + Send {
        self(notification.clone())
    }
}
