//! The digests of the objects that an informer hands out.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use informer::{Object, ObjectKey};

use crate::trace::{Member, Observation, Recorder, State};

/// The way in which objects are digested.
pub(super) struct DigestMethod<K> {
    /// Digests an object that was handed out; `None` if it cannot be decoded.
    pub(super) digest: fn(&Object<K>) -> Option<u64>,
    /// True if each reader decodes the object again, so that readings can differ.
    pub(super) is_decoding: bool,
}

/// Records the digest of each object that was handed out: once for a version, and again if it has changed.
pub(super) struct Contents<K> {
    informer: usize,
    reading: DigestMethod<K>,
    recorder: Recorder,
    last: Arc<Mutex<LastByVersion<K>>>,
}

type LastByVersion<K> = BTreeMap<(ObjectKey, State), Last<K>>;

/// The last object that was handed out of a version.
struct Last<K> {
    object: Object<K>,
    digest: Option<u64>,
}

// === impl Contents ===

impl<K> Contents<K> {
    pub(super) fn new(informer: usize, reading: DigestMethod<K>, recorder: Recorder) -> Self {
        Self {
            informer,
            reading,
            recorder,
            last: Arc::default(),
        }
    }

    /// Reads an object that was handed out, unless this one was read before.
    pub(super) fn see(&self, object: &Object<K>) {
        self.read(object, true);
    }

    /// Reads an object that was handed out, unless this one was read before and cannot have changed.
    pub(super) fn see_again(&self, object: &Object<K>) {
        self.read(object, !self.reading.is_decoding);
    }

    fn read(&self, object: &Object<K>, once_is_enough: bool) {
        let mut last = self.last.lock().expect("no holder panics");
        let state = State::from_wire(object.uid(), object.resource_version().as_str());
        let version = (object.key().clone(), state.clone());
        let before = last.get(&version);
        if once_is_enough && before.is_some_and(|before| before.object.is_same(object)) {
            return;
        }
        let digest = (self.reading.digest)(object);
        let is_known = before.is_some_and(|before| before.digest == digest);
        let read = Last {
            object: object.clone(),
            digest,
        };
        last.insert(version, read);
        drop(last);
        if is_known {
            return;
        }
        self.recorder.record(Observation::Read {
            informer: self.informer,
            member: Member {
                key: object.key().to_string().into(),
                state,
            },
            digest,
        });
    }
}

impl<K> Clone for Contents<K> {
    fn clone(&self) -> Self {
        Self {
            informer: self.informer,
            reading: self.reading,
            recorder: self.recorder.clone(),
            last: Arc::clone(&self.last),
        }
    }
}

impl<K> Clone for DigestMethod<K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for DigestMethod<K> {}
