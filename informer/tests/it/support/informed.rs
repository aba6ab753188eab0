//! A started informer, with what failed and what a handler heard.

use std::sync::{Arc, Mutex};

use informer::{
    HandlerRegistration, SharedInformer,
    list_watch::ListWatch,
    reflector::{Failure, ReflectorObserver, ReflectorOptions},
    testing::{Recording, RecordingHandler},
};
use tokio::sync::Notify;

/// A started informer with a handler.
pub(crate) struct StartedInformer<K> {
    pub(crate) informer: SharedInformer<K>,
    pub(crate) failures: Arc<Failures>,
    recording: Recording<K>,
    _registration: HandlerRegistration,
}

/// The failures that were reported.
#[derive(Default)]
pub(crate) struct Failures {
    messages: Mutex<Vec<String>>,
    more: Notify,
}

/// Starts an informer of `list_watch`.
pub(crate) fn inform<K: Send + Sync + 'static>(
    list_watch: impl ListWatch<K>,
    options: ReflectorOptions,
) -> StartedInformer<K> {
    let failures = Arc::new(Failures::default());
    let informer = SharedInformer::builder(list_watch)
        .with_options(options)
        .with_observer(Arc::clone(&failures) as Arc<dyn ReflectorObserver>)
        .build()
        .unwrap();
    let (handler, recording) = RecordingHandler::new();
    let registration = informer.add_handler(handler);
    informer.start();
    StartedInformer {
        informer,
        failures,
        recording,
        _registration: registration,
    }
}

// === impl StartedInformer ===

impl<K: Send + Sync + 'static> StartedInformer<K> {
    /// The objects of the cache in short: `n/a@3 n/b@5`.
    pub(crate) fn objects(&self) -> String {
        let objects = self.informer.store().list();
        let objects: Vec<String> = objects.iter().map(|object| format!("{object:?}")).collect();
        objects.join(" ")
    }

    /// Returns the handler's notifications since the last call, in short.
    pub(crate) fn notifications(&self) -> String {
        self.recording.take_text()
    }
}

// === impl Failures ===

impl Failures {
    /// All that failed so far.
    pub(crate) fn messages(&self) -> Vec<String> {
        self.messages.lock().unwrap().clone()
    }

    /// Waits until something has failed since this was last asked.
    pub(crate) async fn wait(&self) {
        self.more.notified().await;
    }
}

impl ReflectorObserver for Failures {
    fn failed(&self, failure: &Failure<'_>) {
        let messages = match failure.error {
            Some(error) => error.to_string(),
            None => failure.cause.to_string(),
        };
        self.messages.lock().unwrap().push(messages);
        self.more.notify_one();
    }
}
