//! `informer` as a process under test.

use std::time::Duration;

use informer::{Deleted, EventHandler, Object, Scope, SharedInformer, http::HttpListWatch};
use kube::api::DynamicObject;

use super::{Asked, Mirror, say};
use crate::{
    subjects::external::{Message, Stated},
    task::TaskSet,
    trace::State,
};

/// Starts an informer.
pub(super) fn start(asked: Asked) -> Result<Box<dyn Mirror>, String> {
    let scope = asked.namespace.map_or(Scope::All, Scope::Namespace);
    let mut list_watch = HttpListWatch::<DynamicObject>::new_with(asked.client, scope, &asked.kind);
    if let Some(selector) = asked.label_selector {
        list_watch = list_watch.with_labels(selector);
    }
    let informer = SharedInformer::builder(list_watch).build();
    let informer = informer.map_err(|error| error.to_string())?;
    informer.add_handler(Saying).detach();
    informer.start();
    let complete = informer.clone();
    let waiting = TaskSet::of(async move {
        if complete.wait_for_cache_sync(Duration::MAX).await.is_ok() {
            say(&Message::Synced);
        }
    });
    Ok(Box::new(Informing {
        informer,
        _waiting: waiting,
    }))
}

struct Informing {
    informer: SharedInformer<DynamicObject>,
    _waiting: TaskSet,
}

/// Reports notifications.
struct Saying;

// === impl Informing ===

impl Mirror for Informing {
    fn held(&self) -> Vec<Stated> {
        self.informer.indexer().list().iter().map(stated).collect()
    }
}

// === impl Saying ===

impl EventHandler<DynamicObject> for Saying {
    fn on_add(&mut self, object: &Object<DynamicObject>, in_initial_list: bool) {
        say(&Message::Added {
            object: stated(object),
            is_initial: in_initial_list,
        });
    }

    fn on_update(&mut self, old: &Object<DynamicObject>, new: &Object<DynamicObject>) {
        say(&Message::Updated {
            old: stated(old),
            new: stated(new),
        });
    }

    fn on_delete(&mut self, deleted: &Deleted<DynamicObject>) {
        if let Some(last) = deleted.last_known() {
            say(&Message::Deleted {
                object: stated(last),
                is_tombstone: deleted.is_tombstone(),
            });
        }
    }
}

fn stated(object: &Object<DynamicObject>) -> Stated {
    let state = State::from_wire(object.uid(), object.resource_version().as_str());
    Stated::new(object.key().to_string(), &state)
}
