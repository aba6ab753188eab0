//! The sync of handlers, as their registrations tell it.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use crate::trace::{Observation, Recorder};

/// Records for each handler of an informer whether it has synced, whenever that changes.
#[derive(Clone, Debug)]
pub(super) struct HandlerSyncs {
    informer: usize,
    recorder: Recorder,
    last: Arc<Mutex<BTreeMap<usize, bool>>>,
}

// === impl HandlerSyncs ===

impl HandlerSyncs {
    pub(super) fn new(informer: usize, recorder: Recorder) -> Self {
        Self {
            informer,
            recorder,
            last: Arc::default(),
        }
    }

    /// Records what the registration of a handler says now, unless it has said so before.
    pub(super) fn see(&self, handler: usize, has_synced: impl FnOnce() -> bool) {
        let mut last = self.last.lock().expect("no holder panics");
        // Asked under the lock, so that answers have the order in which they were given.
        let has_synced = has_synced();
        if last.insert(handler, has_synced) != Some(has_synced) {
            self.recorder.record(Observation::HandlerSync {
                informer: self.informer,
                handler,
                has_synced,
            });
        }
    }
}
