//! Handlers of a stream of objects.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard},
};

use crate::trace::{Heard, Key, Notified, Observation, Recorder, State};

/// Notifies handlers of a stream's objects: an object that is new to a handler is an add.
///
/// Clones share the handlers. A handler that joins late sees later objects only: kube-runtime has nothing else for it.
#[derive(Clone, Debug)]
pub(super) struct Handlers {
    informer: usize,
    recorder: Recorder,
    /// The last state of each key that each handler knows.
    known: Arc<Mutex<Known>>,
}

type Known = BTreeMap<usize, BTreeMap<Key, State>>;

// === impl Handlers ===

impl Handlers {
    pub(super) fn new(informer: usize, recorder: Recorder) -> Self {
        Self {
            informer,
            recorder,
            known: Arc::default(),
        }
    }

    pub(super) fn join(&self, handler: usize) {
        self.known().insert(handler, BTreeMap::new());
    }

    pub(super) fn leave(&self, handler: usize) {
        self.known().remove(&handler);
    }

    /// Notifies all handlers of the present state of an object.
    pub(super) fn is_there(&self, key: &Key, new: &State, cached: Option<&State>, initial: bool) {
        for (handler, known) in self.known().iter_mut() {
            let heard = match known.insert(Key::clone(key), new.clone()) {
                None => Heard::Added {
                    new: new.clone(),
                    is_initial: initial,
                },
                Some(old) => Heard::Updated {
                    old,
                    new: new.clone(),
                },
            };
            self.hear(*handler, key, heard, cached);
        }
    }

    /// Notifies the handlers that know an object of its deletion and its last state.
    pub(super) fn is_gone(&self, key: &Key, last: &State, cached: Option<&State>) {
        for (handler, known) in self.known().iter_mut() {
            if known.remove(key).is_some() {
                let heard = Heard::Deleted {
                    last: Some(last.clone()),
                    is_tombstone: false,
                };
                self.hear(*handler, key, heard, cached);
            }
        }
    }

    fn hear(&self, handler: usize, key: &Key, heard: Heard, cached: Option<&State>) {
        self.recorder.record(Observation::Notified(Notified {
            informer: self.informer,
            handler,
            key: Key::clone(key),
            heard,
            cause: None,
            cached: cached.cloned(),
        }));
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().expect("no holder panics")
    }
}
