//! `kube_runtime` as a process under test: a watcher with the default backoff that feeds a store.

use std::collections::BTreeMap;

use futures::StreamExt;
use kube::{Api, api::DynamicObject};
use kube_runtime::{
    WatchStreamExt,
    reflector::{Store, store::Writer},
    watcher::{self, Config, Event},
};

use super::{Mirror, MirrorSelection, say};
use crate::{
    participants::subjects::{
        external::{Message, StatedObject},
        kube_runtime::{key, state},
    },
    task::TaskSet,
};

/// Starts a reflector.
pub(super) fn start(selection: MirrorSelection) -> Box<dyn Mirror> {
    let MirrorSelection {
        client,
        kind,
        namespace,
        label_selector,
    } = selection;
    let api = match &namespace {
        Some(namespace) => Api::<DynamicObject>::namespaced_with(client, namespace, &kind),
        None => Api::all_with(client, &kind),
    };
    let mut config = Config::default();
    if let Some(selector) = &label_selector {
        config = config.labels(selector);
    }
    let writer = Writer::new(kind);
    let store = writer.as_reader();
    Box::new(ReflectorMirror {
        store,
        _forwarding: TaskSet::of(forward(api, config, writer)),
    })
}

struct ReflectorMirror {
    store: Store<DynamicObject>,
    _forwarding: TaskSet,
}

/// Reports a stream's objects as notifications: a new object is an add.
#[derive(Default)]
struct StreamReporter {
    states: BTreeMap<String, StatedObject>,
    has_synced: bool,
}

/// Reports a stream's objects: those of a list when it is complete, since the store shows them then.
async fn forward(api: Api<DynamicObject>, config: Config, writer: Writer<DynamicObject>) {
    let events = watcher::watcher(api, config).default_backoff();
    let mut events = std::pin::pin!(events.reflect(writer));
    let mut listed = Vec::new();
    let mut saying = StreamReporter::default();
    while let Some(event) = events.next().await {
        match event {
            Ok(Event::Init) => listed.clear(),
            Ok(Event::InitApply(object)) => listed.push(object),
            Ok(Event::InitDone) => {
                for object in listed.drain(..) {
                    saying.there(&object);
                }
                saying.synced();
            }
            Ok(Event::Apply(object)) => saying.there(&object),
            Ok(Event::Delete(object)) => saying.gone(&object),
            // The watcher continues by itself.
            Err(_) => {}
        }
    }
}

// === impl ReflectorMirror ===

impl Mirror for ReflectorMirror {
    fn held(&self) -> Vec<StatedObject> {
        let objects = self.store.state();
        objects.iter().map(|object| stated(object)).collect()
    }
}

// === impl StreamReporter ===

impl StreamReporter {
    fn synced(&mut self) {
        if !std::mem::replace(&mut self.has_synced, true) {
            say(&Message::Synced);
        }
    }

    fn there(&mut self, object: &DynamicObject) {
        let new = stated(object);
        let message = match self.states.insert(new.key.clone(), new.clone()) {
            None => Message::Added {
                object: new,
                is_initial: !self.has_synced,
            },
            Some(old) => Message::Updated { old, new },
        };
        say(&message);
    }

    fn gone(&mut self, object: &DynamicObject) {
        let last = stated(object);
        if self.states.remove(&last.key).is_some() {
            say(&Message::Deleted {
                object: last,
                is_tombstone: false,
            });
        }
    }
}

fn stated(object: &DynamicObject) -> StatedObject {
    StatedObject::new(key(object).to_string(), &state(object))
}
