//! The objects that a handler knows of.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use crate::trace::{Key, NotifiedChange, State};

/// The fold of a handler's notifications, by which a run in real time sees that it was notified of everything.
#[derive(Clone, Debug, Default)]
pub(super) struct HandlerFold(Arc<Mutex<BTreeMap<Key, State>>>);

// === impl HandlerFold ===

impl HandlerFold {
    /// Takes a notification.
    pub(super) fn hear(&self, key: &Key, change: &NotifiedChange) {
        let mut states = self.0.lock().expect("no holder panics");
        match change {
            NotifiedChange::Added { new, .. } | NotifiedChange::Updated { new, .. } => {
                states.insert(key.clone(), new.clone());
            }
            NotifiedChange::Deleted { .. } => {
                states.remove(key);
            }
        }
    }

    /// Returns true if the handler knows of exactly these states.
    pub(super) fn is(&self, held: &BTreeMap<Key, State>) -> bool {
        *self.0.lock().expect("no holder panics") == *held
    }
}
