//! Those who watch a reflector, some of whom come later.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::{
    object::{DecodeError, ResourceVersion},
    reflector::{Failure, ListSummary, Phase, ReflectorObserver, Request, WatchSummary},
};

/// Tells all observers of one informer, in the order in which they came.
#[derive(Default)]
pub(super) struct ObserverHub(Mutex<Vec<Arc<dyn ReflectorObserver>>>);

// === impl ObserverHub ===

impl ObserverHub {
    pub(super) fn add(&self, observer: Arc<dyn ReflectorObserver>) {
        self.lock().push(observer);
    }

    /// Calls them without the lock: an observer may ask the factory for something.
    fn for_each(&self, notify: impl Fn(&dyn ReflectorObserver)) {
        let observers = self.lock().clone();
        for own in &observers {
            notify(&**own);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<dyn ReflectorObserver>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ReflectorObserver for ObserverHub {
    fn phase_changed(&self, phase: Phase) {
        self.for_each(|own| own.phase_changed(phase));
    }

    fn requested(&self, request: Request) {
        self.for_each(|own| own.requested(request));
    }

    fn listed(&self, list: ListSummary<'_>) {
        self.for_each(|own| own.listed(list));
    }

    fn watched(&self, watch: WatchSummary) {
        self.for_each(|own| own.watched(watch));
    }

    fn failed(&self, failure: &Failure<'_>) {
        self.for_each(|own| own.failed(failure));
    }

    fn undecodable(&self, error: &DecodeError) {
        self.for_each(|own| own.undecodable(error));
    }

    fn version_went_back(&self, from: &ResourceVersion, to: &ResourceVersion, is_accepted: bool) {
        self.for_each(|own| own.version_went_back(from, to, is_accepted));
    }
}

impl fmt::Debug for ObserverHub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ObserverHub")
            .field(&self.lock().len())
            .finish()
    }
}
