//! Tests of client-go's own suite that had no counterpart here: the page `docs/client-go.md` names them all.

mod reflector;
mod controller;
mod shared_informer;
mod factory;

use std::{sync::Arc, time::Duration};

use informer::{
    HandlerRegistration, Labels, Metadata, Object, ObjectKey, ResourceVersion, SharedInformer,
    reflector::ReflectorOptions,
    testing::{EventSender, Recording, RecordingHandler, Script, scripted},
};
use tokio::time::sleep;

const LIMIT: Duration = Duration::from_mins(1);

/// The value of a test object.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TestValue(String);

/// `n/a@3` is the object `n/a` at version 3, with its own text as its value.
fn thing(text: &str) -> Object<TestValue> {
    let (key, version) = text.split_once('@').unwrap();
    let (namespace, name) = key.split_once('/').unwrap();
    let metadata = Metadata {
        key: ObjectKey::new(namespace, name),
        uid: format!("uid of {key}").into(),
        resource_version: ResourceVersion::new(version),
        labels: Labels::default(),
        owners: Arc::new([]),
        is_terminating: false,
    };
    Object::with_metadata(metadata, TestValue(text.to_owned()))
}

fn things(text: &str) -> Vec<Object<TestValue>> {
    text.split_whitespace().map(thing).collect()
}

/// Lists by pages, and waits exactly as long as the backoff says.
fn plain_options() -> ReflectorOptions {
    let mut options = ReflectorOptions::default();
    options.streaming_lists = false;
    options.backoff.jitter = 0.0;
    options
}

/// An informer with a handler, and the script that plays the server.
struct World {
    informer: SharedInformer<TestValue>,
    script: Script<TestValue>,
    recording: Recording<TestValue>,
    _registration: HandlerRegistration,
}

// === impl World ===

impl World {
    /// Started.
    fn new(options: ReflectorOptions) -> Self {
        let (list_watch, script) = scripted();
        let informer = SharedInformer::builder(list_watch).with_options(options);
        Self::of(informer.build().unwrap(), script)
    }

    fn of(informer: SharedInformer<TestValue>, script: Script<TestValue>) -> Self {
        let (handler, recording) = RecordingHandler::new();
        let registration = informer.add_handler(handler);
        informer.start();
        Self {
            informer,
            script,
            recording,
            _registration: registration,
        }
    }

    /// Answers a list and opens the watch that follows.
    async fn list(&mut self, objects: &str, version: &str) -> EventSender<TestValue> {
        self.script
            .expect_list()
            .await
            .page(things(objects), version);
        let watch = self.script.expect_watch().await.open();
        settle().await;
        watch
    }

    fn held(&self) -> String {
        let objects = self.informer.store().list();
        let words: Vec<_> = objects.iter().map(|object| format!("{object:?}")).collect();
        words.join(" ")
    }
}

/// Lets every task run until it waits.
async fn settle() {
    sleep(Duration::from_millis(1)).await;
}
