//! A handler that records its notifications, and the handle by which a test reads them.

use std::{
    fmt,
    sync::{Arc, Mutex},
};

use crate::{
    handler::{EventHandler, Notification, NotificationCause},
    object::{Deleted, Object},
};

/// Keeps every notification; give it to an informer, and keep the [`Recording`].
pub struct RecordingHandler<K>(Recording<K>);

/// The notifications of a [`RecordingHandler`]. Clones read the same.
pub struct Recording<K>(Arc<Mutex<Vec<Notification<K>>>>);

// === impl RecordingHandler ===

impl<K> RecordingHandler<K> {
    /// A handler, and its recorded notifications.
    pub fn new() -> (Self, Recording<K>) {
        let recording = Recording(Arc::default());
        (Self(recording.clone()), recording)
    }
}

impl<K: Send + Sync + 'static> EventHandler<K> for RecordingHandler<K> {
    /// Called by a handler around this one only, as are the next two: the cause is derived from the arguments.
    fn on_add(&mut self, object: &Object<K>, in_initial_list: bool) {
        let cause = if in_initial_list {
            NotificationCause::Initial
        } else {
            NotificationCause::Live
        };
        let object = object.clone();
        self.0.push(Notification::Add { object, cause });
    }

    fn on_update(&mut self, old: &Object<K>, new: &Object<K>) {
        let cause = if old.is_same(new) {
            NotificationCause::Resync
        } else {
            NotificationCause::Live
        };
        let (old, new) = (old.clone(), new.clone());
        self.0.push(Notification::Update { old, new, cause });
    }

    fn on_delete(&mut self, deleted: &Deleted<K>) {
        let (deleted, cause) = (deleted.clone(), NotificationCause::Live);
        self.0.push(Notification::Delete { deleted, cause });
    }

    fn on_notification(&mut self, notification: &Notification<K>) {
        self.0.push(notification.clone());
    }
}

impl<K> fmt::Debug for RecordingHandler<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RecordingHandler").finish_non_exhaustive()
    }
}

// === impl Recording ===

impl<K> Recording<K> {
    /// Takes the notifications since the last call, and returns their causes in order.
    pub fn take_causes(&self) -> Vec<NotificationCause> {
        self.take().iter().map(Notification::cause).collect()
    }

    /// Takes the notifications since the last call, in order.
    pub fn take(&self) -> Vec<Notification<K>> {
        std::mem::take(
            &mut *self
                .0
                .lock()
                .expect("nothing panics while it holds the recording"),
        )
    }

    /// The same as text, one word a notification: `(+a/x@1)` an add of the initial list, `+a/x@1` another add,
    /// `~a/x@1..2` an update, `=a/x@2` a resync, `-a/x@3` a deletion that was seen, `!a/x@2` a tombstone with the last
    /// known version.
    pub fn take_text(&self) -> String {
        let words: Vec<_> = self.take().iter().map(notification_text).collect();
        words.join(" ")
    }

    fn push(&self, notification: Notification<K>) {
        let mut notifications = self
            .0
            .lock()
            .expect("nothing panics while it holds the recording");
        notifications.push(notification);
    }
}

impl<K> Clone for Recording<K> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<K> fmt::Debug for Recording<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Recording").finish_non_exhaustive()
    }
}

/// See [`Recording::take_text`].
pub(crate) fn notification_text<K>(notification: &Notification<K>) -> String {
    match notification {
        Notification::Add {
            object,
            cause: NotificationCause::Initial,
        } => format!("(+{object:?})"),
        Notification::Add { object, .. } => format!("+{object:?}"),
        Notification::Update {
            new,
            cause: NotificationCause::Resync,
            ..
        } => format!("={new:?}"),
        Notification::Update { old, new, .. } => format!("~{old:?}..{}", new.resource_version()),
        Notification::Delete { deleted, .. } => match deleted {
            Deleted::Object(object) => format!("-{object:?}"),
            Deleted::Tombstone(tombstone) => match &tombstone.last_known {
                Some(object) => format!("!{object:?}"),
                None => format!("!{}", tombstone.key),
            },
        },
    }
}
