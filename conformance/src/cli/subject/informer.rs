//! `informer` as a process under test.

use std::time::Duration;

use informer::{Deleted, EventHandler, Object, Scope, SharedInformer, http::HttpListWatch};
use kube::api::DynamicObject;

use super::{Mirror, MirrorSelection, say};
use crate::{
    participants::subjects::external::{Message, StatedObject},
    task::TaskSet,
    trace::State,
};

/// Starts an informer.
pub(super) fn start(selection: MirrorSelection) -> Result<Box<dyn Mirror>, String> {
    let scope = selection.namespace.map_or(Scope::All, Scope::Namespace);
    let mut list_watch =
        HttpListWatch::<DynamicObject>::new_with(selection.client, scope, &selection.kind);
    if let Some(selector) = selection.label_selector {
        list_watch = list_watch.with_labels(selector);
    }
    let informer = SharedInformer::builder(list_watch).build();
    let informer = informer.map_err(|error| error.to_string())?;
    informer.add_handler(NotificationReporter).detach();
    informer.start();
    let complete = informer.clone();
    let waiting = TaskSet::of(async move {
        if complete.wait_for_cache_sync(Duration::MAX).await.is_ok() {
            say(&Message::Synced);
        }
    });
    Ok(Box::new(InformerMirror {
        informer,
        _waiting: waiting,
    }))
}

struct InformerMirror {
    informer: SharedInformer<DynamicObject>,
    _waiting: TaskSet,
}

/// Reports notifications.
struct NotificationReporter;

// === impl InformerMirror ===

impl Mirror for InformerMirror {
    fn held(&self) -> Vec<StatedObject> {
        self.informer.indexer().list().iter().map(stated).collect()
    }
}

// === impl NotificationReporter ===

impl EventHandler<DynamicObject> for NotificationReporter {
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

fn stated(object: &Object<DynamicObject>) -> StatedObject {
    let state = State::from_wire(object.uid(), object.resource_version().as_str());
    StatedObject::new(object.key().to_string(), &state)
}
