//! The handler that records what it is notified of.

use informer::{Deleted, EventHandler, Object, ObjectKey};

use super::FactoryEvent;
use crate::{
    participants::states,
    trace::{NotifiedChange, Recorder},
};

/// Records notifications.
pub(super) struct Handler {
    pub(super) handler: usize,
    pub(super) recorder: Recorder,
}

// === impl Handler ===

impl Handler {
    fn hear(&self, key: &ObjectKey, change: NotifiedChange) {
        self.recorder.record(FactoryEvent::Told {
            handler: self.handler,
            key: key.to_string().into(),
            change,
        });
    }
}

impl<K: Send + Sync + 'static> EventHandler<K> for Handler {
    fn on_add(&mut self, object: &Object<K>, in_initial_list: bool) {
        self.hear(object.key(), states::added(object, in_initial_list));
    }

    fn on_update(&mut self, old: &Object<K>, new: &Object<K>) {
        self.hear(new.key(), states::updated(old, new));
    }

    fn on_delete(&mut self, deleted: &Deleted<K>) {
        self.hear(deleted.key(), states::deleted(deleted));
    }
}
