//! Handlers behind the adapters of `informer`: closures, and a filter.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use informer::{
    Deleted, EventHandler, Filter, FilteringHandler, HandlerFuncs, Notification, Object, ObjectKey,
};

use super::recording_handler::RecordingHandler;
use crate::{
    plan::LABEL,
    trace::{Observation, Part, Recorder},
};

/// The label value that the filter accepts.
const ACCEPTED: &str = "web";

/// A handler of some type.
pub(super) struct AnyHandler<K>(Box<dyn EventHandler<K>>);

// === impl AnyHandler ===

impl<K: Send + Sync + 'static> AnyHandler<K> {
    pub(super) fn new(handler: impl EventHandler<K>) -> Self {
        Self(Box::new(handler))
    }

    /// Hands everything to `inner` by closures.
    pub(super) fn of_closures(inner: RecordingHandler<K>) -> Self {
        let noted = Arc::new(Mutex::new(inner));
        let (added, updated, deleted) =
            (Arc::clone(&noted), Arc::clone(&noted), Arc::clone(&noted));
        let funcs = HandlerFuncs::new()
            .with_notification(move |notification| lock(&noted).note_cause(notification))
            .with_add(move |object, is_initial| lock(&added).on_add(object, is_initial))
            .with_update(move |old, new| lock(&updated).on_update(old, new))
            .with_delete(move |last| lock(&deleted).on_delete(last));
        Self::new(funcs)
    }
}

impl<K: Send + Sync + 'static> EventHandler<K> for AnyHandler<K> {
    fn on_notification(&mut self, notification: &Notification<K>) {
        self.0.on_notification(notification);
    }
}

/// Locks a mutex that a deliberate panic of a handler may have poisoned.
fn lock<T>(inner: &Mutex<T>) -> MutexGuard<'_, T> {
    inner.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Hands everything to a handler, and through a filter to a second one, which has to know the accepted part of what the first
/// knows.
pub(super) struct FilteredHandler<K, H> {
    inner: H,
    filter: Box<dyn EventHandler<K>>,
    accepted: Accepted,
    /// The versions of the objects that `inner` knows and the filter accepts.
    want: Versions,
    informer: usize,
    handler: usize,
    recorder: Recorder,
}

type Versions = BTreeMap<ObjectKey, String>;

/// The handler behind the filter.
#[derive(Clone, Debug, Default)]
struct Accepted(Arc<Mutex<KnownObjects>>);

/// The objects that it knows, and the last notification that it should not have received.
#[derive(Debug, Default)]
struct KnownObjects {
    versions: Versions,
    illegal: Option<String>,
}

// === impl FilteredHandler ===

impl<K: Send + Sync + 'static, H> FilteredHandler<K, H> {
    /// Creates the filter beside `inner`, the handler of this number.
    pub(super) fn new(inner: H, informer: usize, handler: usize, recorder: Recorder) -> Self {
        let accepted = Accepted::default();
        let is_accepted = |object: &Object<K>| object.labels().get(LABEL) == Some(ACCEPTED);
        let filter: Box<dyn EventHandler<K>> = if handler.is_multiple_of(2) {
            let filter =
                Filter::of_metadata(|metadata| metadata.labels.get(LABEL) == Some(ACCEPTED));
            Box::new(FilteringHandler::with_filter(filter, accepted.clone()))
        } else {
            Box::new(FilteringHandler::new(is_accepted, accepted.clone()))
        };
        Self {
            inner,
            filter,
            accepted,
            want: Versions::new(),
            informer,
            handler,
            recorder,
        }
    }

    /// Takes note of a state of an object.
    fn expect(&mut self, object: &Object<K>) {
        if object.labels().get(LABEL) == Some(ACCEPTED) {
            self.want.insert(object.key().clone(), version(object));
        } else {
            self.want.remove(object.key());
        }
    }

    /// Records a difference between the handlers.
    fn compare(&self) {
        let mut objects = lock(&self.accepted.0);
        let illegal = objects.illegal.take();
        let differs = || {
            let (want, got) = (&self.want, &objects.versions);
            (want != got).then(|| format!("want {want:?}, got {got:?}"))
        };
        if let Some(text) = illegal.or_else(differs) {
            self.recorder.record(Observation::Differs {
                informer: self.informer,
                part: Part::Filter,
                name: self.handler.to_string(),
                text,
            });
        }
    }
}

impl<K: Send + Sync + 'static, H: EventHandler<K>> EventHandler<K> for FilteredHandler<K, H> {
    fn on_notification(&mut self, notification: &Notification<K>) {
        match notification.object() {
            Some(object) if !matches!(notification, Notification::Delete { .. }) => {
                self.expect(object);
            }
            _ => drop(self.want.remove(notification.key())),
        }
        self.filter.on_notification(notification);
        self.compare();
        self.inner.on_notification(notification);
    }
}

// === impl Accepted ===

impl<K: Send + Sync + 'static> EventHandler<K> for Accepted {
    fn on_add(&mut self, object: &Object<K>, _in_initial_list: bool) {
        let mut objects = lock(&self.0);
        let before = objects
            .versions
            .insert(object.key().clone(), version(object));
        if before.is_some() {
            objects.illegal = Some(format!("{} is added twice", object.key()));
        }
    }

    fn on_update(&mut self, _old: &Object<K>, new: &Object<K>) {
        let mut objects = lock(&self.0);
        let before = objects.versions.insert(new.key().clone(), version(new));
        if before.is_none() {
            objects.illegal = Some(format!("{} is updated, but unknown", new.key()));
        }
    }

    fn on_delete(&mut self, deleted: &Deleted<K>) {
        let mut objects = lock(&self.0);
        if objects.versions.remove(deleted.key()).is_none() {
            objects.illegal = Some(format!("{} is deleted, but unknown", deleted.key()));
        }
    }
}

fn version<K>(object: &Object<K>) -> String {
    object.resource_version().to_string()
}
