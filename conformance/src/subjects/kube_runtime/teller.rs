//! What a stream of objects tells handlers.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard},
};

use crate::trace::{Heard, Key, Notified, Observation, Recorder, State};

/// Tells handlers what comes out of a stream, in a handler's words: who does not know an object hears that it was added.
///
/// Clones tell the same handlers. Who joins late hears of what comes from then on: kube-runtime has nothing else for him.
#[derive(Clone, Debug)]
pub(super) struct Teller {
    informer: usize,
    recorder: Recorder,
    /// What each handler was told last of each key.
    handlers: Arc<Mutex<Known>>,
}

type Known = BTreeMap<usize, BTreeMap<Key, State>>;

// === impl Teller ===

impl Teller {
    pub(super) fn new(informer: usize, recorder: Recorder) -> Self {
        Self {
            informer,
            recorder,
            handlers: Arc::default(),
        }
    }

    pub(super) fn join(&self, handler: usize) {
        self.handlers().insert(handler, BTreeMap::new());
    }

    pub(super) fn leave(&self, handler: usize) {
        self.handlers().remove(&handler);
    }

    /// Tells everybody that an object is there, in this state.
    pub(super) fn is_there(&self, key: &Key, new: &State, cached: Option<&State>, initial: bool) {
        for (handler, known) in self.handlers().iter_mut() {
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

    /// Tells everybody who knew of it that an object is gone, and this was its last state.
    pub(super) fn is_gone(&self, key: &Key, last: &State, cached: Option<&State>) {
        for (handler, known) in self.handlers().iter_mut() {
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
            cached: cached.cloned(),
        }));
    }

    fn handlers(&self) -> MutexGuard<'_, Known> {
        self.handlers.lock().expect("no holder panics")
    }
}
