//! Handlers of a stream of objects.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard},
};

use crate::trace::{HandlerNotification, Key, NotifiedChange, Observation, Recorder, State};

/// Notifies handlers of a stream's objects: an object that is new to a handler is an add.
///
/// Clones share the handlers. A handler that joins late sees later objects only: kube-runtime has nothing else for it.
#[derive(Clone, Debug)]
pub(super) struct Handlers {
    informer: usize,
    recorder: Recorder,
    /// The last state of each key that each handler knows.
    states: Arc<Mutex<KnownStates>>,
}

type KnownStates = BTreeMap<usize, BTreeMap<Key, State>>;

// === impl Handlers ===

impl Handlers {
    pub(super) fn new(informer: usize, recorder: Recorder) -> Self {
        Self {
            informer,
            recorder,
            states: Arc::default(),
        }
    }

    pub(super) fn join(&self, handler: usize) {
        self.states().insert(handler, BTreeMap::new());
    }

    pub(super) fn leave(&self, handler: usize) {
        self.states().remove(&handler);
    }

    /// Notifies all handlers of the present state of an object.
    pub(super) fn is_there(&self, key: &Key, new: &State, cached: Option<&State>, initial: bool) {
        for (handler, states) in self.states().iter_mut() {
            let change = match states.insert(Key::clone(key), new.clone()) {
                None => NotifiedChange::Added {
                    new: new.clone(),
                    is_initial: initial,
                },
                Some(old) => NotifiedChange::Updated {
                    old,
                    new: new.clone(),
                },
            };
            self.hear(*handler, key, change, cached);
        }
    }

    /// Notifies the handlers that know an object of its deletion and its last state.
    pub(super) fn is_gone(&self, key: &Key, last: &State, cached: Option<&State>) {
        for (handler, states) in self.states().iter_mut() {
            if states.remove(key).is_some() {
                let change = NotifiedChange::Deleted {
                    last: Some(last.clone()),
                    is_tombstone: false,
                };
                self.hear(*handler, key, change, cached);
            }
        }
    }

    fn hear(&self, handler: usize, key: &Key, change: NotifiedChange, cached: Option<&State>) {
        self.recorder
            .record(Observation::Notified(HandlerNotification {
                informer: self.informer,
                handler,
                key: Key::clone(key),
                change,
                cause: None,
                cached: cached.cloned(),
            }));
    }

    fn states(&self) -> MutexGuard<'_, KnownStates> {
        self.states.lock().expect("no holder panics")
    }
}
