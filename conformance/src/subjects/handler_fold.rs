//! The objects that a handler knows of.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use crate::trace::{Heard, Key, State};

/// The fold of a handler's notifications, by which a run in real time sees that it was notified of everything.
#[derive(Clone, Debug, Default)]
pub(super) struct HandlerFold(Arc<Mutex<BTreeMap<Key, State>>>);

// === impl HandlerFold ===

impl HandlerFold {
    /// Takes a notification.
    pub(super) fn hear(&self, key: &Key, heard: &Heard) {
        let mut known = self.0.lock().expect("no holder panics");
        match heard {
            Heard::Added { new, .. } | Heard::Updated { new, .. } => {
                known.insert(key.clone(), new.clone());
            }
            Heard::Deleted { .. } => {
                known.remove(key);
            }
        }
    }

    /// Returns true if the handler knows of exactly these states.
    pub(super) fn is(&self, held: &BTreeMap<Key, State>) -> bool {
        *self.0.lock().expect("no holder panics") == *held
    }
}
