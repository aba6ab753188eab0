//! The handler of a controller.

use std::sync::Arc;

use informer::{
    Deleted, EventHandler, Notification, NotificationCause, Object, ObjectKey, workqueue::Enqueue,
};

use super::{super::QueueEvent, observed_queue::ObservedQueue};
use crate::{
    participants::states::state,
    trace::{Key, State},
};

/// Records each notification, and hands it to the handler that fills the queue.
pub(super) struct RecordingEnqueue<K> {
    queue: Arc<ObservedQueue>,
    inner: Enqueue<K, ObjectKey>,
    is_resync: bool,
}

// === impl RecordingEnqueue ===

impl<K: 'static> RecordingEnqueue<K> {
    /// Creates a handler that adds the key of each object to `queue`.
    pub(super) fn new(queue: &Arc<ObservedQueue>) -> Self {
        Self {
            queue: Arc::clone(queue),
            inner: Enqueue::for_object(&queue.queue),
            is_resync: false,
        }
    }

    fn hear(&self, item: &ObjectKey, state: Option<State>, can_wait: bool) {
        self.queue.note(item);
        self.queue.record(QueueEvent::Heard {
            key: Key::from(item.to_string()),
            state,
            can_wait,
        });
    }
}

impl<K: Send + Sync + 'static> EventHandler<K> for RecordingEnqueue<K> {
    fn on_notification(&mut self, notification: &Notification<K>) {
        self.is_resync = notification.cause() == NotificationCause::Resync;
        // Recorded before it is queued: a worker on another thread may begin at once.
        notification.dispatch(self);
        self.inner.on_notification(notification);
    }

    fn on_add(&mut self, object: &Object<K>, in_initial_list: bool) {
        self.hear(object.key(), Some(state(object)), in_initial_list);
    }

    fn on_update(&mut self, old: &Object<K>, new: &Object<K>) {
        let (old, state) = (state(old), state(new));
        let can_wait = self.is_resync || old.revision == state.revision;
        self.hear(new.key(), Some(state), can_wait);
    }

    fn on_delete(&mut self, deleted: &Deleted<K>) {
        self.hear(deleted.key(), None, false);
    }
}
