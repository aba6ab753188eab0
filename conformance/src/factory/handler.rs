//! The handler that records what it is notified of.

use informer::{Deleted, EventHandler, Object, ObjectKey};

use crate::trace::{FactoryEvent, Heard, Observation, Recorder, State};

/// Records notifications.
pub(super) struct Handler {
    pub(super) handler: usize,
    pub(super) recorder: Recorder,
}

// === impl Handler ===

impl Handler {
    fn hear(&self, key: &ObjectKey, heard: Heard) {
        self.recorder
            .record(Observation::Factory(FactoryEvent::Told {
                handler: self.handler,
                key: key.to_string().into(),
                heard,
            }));
    }
}

impl<K: Send + Sync + 'static> EventHandler<K> for Handler {
    fn on_add(&mut self, object: &Object<K>, in_initial_list: bool) {
        let heard = Heard::Added {
            new: state(object),
            is_initial: in_initial_list,
        };
        self.hear(object.key(), heard);
    }

    fn on_update(&mut self, old: &Object<K>, new: &Object<K>) {
        let heard = Heard::Updated {
            old: state(old),
            new: state(new),
        };
        self.hear(new.key(), heard);
    }

    fn on_delete(&mut self, deleted: &Deleted<K>) {
        let heard = Heard::Deleted {
            last: deleted.last_known().map(state),
            is_tombstone: deleted.is_tombstone(),
        };
        self.hear(deleted.key(), heard);
    }
}

pub(super) fn state<K>(object: &Object<K>) -> State {
    State::from_wire(object.uid(), object.resource_version().as_str())
}
