//! The handler that records what it is notified of.

use std::sync::{Arc, Mutex, MutexGuard};

use informer::{
    Deleted, EventHandler, HandlerRegistration, Indexer, Notification, NotificationCause, Object,
    ObjectKey,
};

use super::{contents::Contents, handler_fold::HandlerFold, handler_syncs::HandlerSyncs};
use crate::{
    participants::{HandlerPlan, states},
    trace::{HandlerNotification, Key, NotifiedCause, NotifiedChange, Observation, Part, Recorder},
};

/// A handler's registration, which the handler itself can drop, too.
pub(super) type Registration = Arc<Mutex<Option<HandlerRegistration>>>;

/// Records notifications, and the cache at that moment.
pub(super) struct RecordingHandler<K> {
    pub(super) informer: usize,
    pub(super) handler: usize,
    pub(super) indexer: Indexer<K>,
    pub(super) recorder: Recorder,
    pub(super) contents: Contents<K>,
    pub(super) syncs: HandlerSyncs,
    pub(super) fold: HandlerFold,
    pub(super) plan: HandlerPlan,
    pub(super) heard_count: u32,
    /// The cause of the present notification; `None` before it, and of a cause that is not what it says.
    pub(super) cause: Option<NotifiedCause>,
    pub(super) registration: Registration,
    /// Shared by all handlers of the informer, so that they can be counted.
    pub(super) _held: Arc<()>,
}

// === impl RecordingHandler ===

impl<K: Send + Sync + 'static> RecordingHandler<K> {
    /// Takes note of the cause of the notification that comes next.
    pub(super) fn note_cause(&mut self, notification: &Notification<K>) {
        self.cause = cause(notification.cause());
    }

    fn hear(&mut self, object_key: &ObjectKey, change: NotifiedChange) {
        if let Some(registration) = &*lock(&self.registration) {
            self.syncs.see(self.handler, || registration.has_synced());
        }
        let cause = self.cause.take();
        if cause.is_none() {
            self.recorder.record(Observation::Differs {
                informer: self.informer,
                part: Part::Handler,
                name: self.handler.to_string(),
                text: format!("is told of {object_key} without its cause"),
            });
        }
        let key = Key::from(object_key.to_string());
        self.fold.hear(&key, &change);
        self.recorder.record_with(|| {
            Observation::Notified(HandlerNotification {
                informer: self.informer,
                handler: self.handler,
                key,
                change,
                cause,
                cached: self.indexer.get(object_key).as_ref().map(states::state),
            })
        });
        self.heard_count += 1;
        if self.plan.leave_at_count == Some(self.heard_count) {
            drop(lock(&self.registration).take());
            self.recorder.record(Observation::HandlerLeaves {
                informer: self.informer,
                handler: self.handler,
            });
        }
        if self
            .plan
            .panic_every
            .is_some_and(|every| self.heard_count.is_multiple_of(every))
        {
            // Not `panic!`: a planned panic is not for standard error.
            std::panic::resume_unwind(Box::new("a handler panics, as its plan says"));
        }
    }
}

impl<K: Send + Sync + 'static> EventHandler<K> for RecordingHandler<K> {
    fn on_notification(&mut self, notification: &Notification<K>) {
        self.note_cause(notification);
        notification.dispatch(self);
    }

    fn on_add(&mut self, object: &Object<K>, in_initial_list: bool) {
        self.contents.see(object);
        self.hear(object.key(), states::added(object, in_initial_list));
    }

    fn on_update(&mut self, old: &Object<K>, new: &Object<K>) {
        self.contents.see(old);
        self.contents.see(new);
        self.hear(new.key(), states::updated(old, new));
    }

    fn on_delete(&mut self, deleted: &Deleted<K>) {
        self.hear(deleted.key(), states::deleted(deleted));
    }
}

pub(super) fn lock(registration: &Registration) -> MutexGuard<'_, Option<HandlerRegistration>> {
    registration.lock().expect("no holder panics")
}

fn cause(cause: NotificationCause) -> Option<NotifiedCause> {
    match cause {
        _ if cause.is_initial() => Some(NotifiedCause::Initial),
        _ if cause.is_resync() => Some(NotifiedCause::Resync),
        NotificationCause::Live => Some(NotifiedCause::Live),
        NotificationCause::Relist => Some(NotifiedCause::Relist),
        _ => None,
    }
}
