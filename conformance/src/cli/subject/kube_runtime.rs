//! `kube_runtime` as a process under test: a watcher with the default backoff that feeds a store.

use std::collections::BTreeMap;

use futures::StreamExt;
use kube::{Api, api::DynamicObject};
use kube_runtime::{
    WatchStreamExt,
    reflector::{Store, store::Writer},
    watcher::{self, Config, Event},
};

use super::{Asked, Mirror, say};
use crate::{
    subjects::{
        external::{Message, Stated},
        kube_runtime::{key, state},
    },
    task::TaskSet,
};

/// Starts a reflector.
pub(super) fn start(asked: Asked) -> Box<dyn Mirror> {
    let Asked {
        client,
        kind,
        namespace,
        label_selector,
    } = asked;
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
    Box::new(Reflecting {
        store,
        _telling: TaskSet::of(tell(api, config, writer)),
    })
}

struct Reflecting {
    store: Store<DynamicObject>,
    _telling: TaskSet,
}

/// Reports a stream's objects as notifications: a new object is an add.
#[derive(Default)]
struct Saying {
    known: BTreeMap<String, Stated>,
    has_synced: bool,
}

/// Reports a stream's objects: those of a list when it is complete, since the store shows them then.
async fn tell(api: Api<DynamicObject>, config: Config, writer: Writer<DynamicObject>) {
    let events = watcher::watcher(api, config).default_backoff();
    let mut events = std::pin::pin!(events.reflect(writer));
    let mut listed = Vec::new();
    let mut saying = Saying::default();
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

// === impl Reflecting ===

impl Mirror for Reflecting {
    fn held(&self) -> Vec<Stated> {
        let objects = self.store.state();
        objects.iter().map(|object| stated(object)).collect()
    }
}

// === impl Saying ===

impl Saying {
    fn synced(&mut self) {
        if !std::mem::replace(&mut self.has_synced, true) {
            say(&Message::Synced);
        }
    }

    fn there(&mut self, object: &DynamicObject) {
        let new = stated(object);
        let message = match self.known.insert(new.key.clone(), new.clone()) {
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
        if self.known.remove(&last.key).is_some() {
            say(&Message::Deleted {
                object: last,
                is_tombstone: false,
            });
        }
    }
}

fn stated(object: &DynamicObject) -> Stated {
    Stated::new(key(object).to_string(), &state(object))
}
