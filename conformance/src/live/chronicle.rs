//! The history of a real server, from a watch of each resource that no fault hits.

use std::{
    collections::BTreeMap,
    io,
    sync::{Arc, Mutex, MutexGuard},
};

use axum::Router;
use futures::{AsyncBufReadExt, StreamExt, TryStreamExt};

use super::{
    LiveError,
    objects::{Event, List, Metadata, all, ask},
};
use crate::{
    call,
    plan::{Resource, Selection},
    task::TaskSet,
    trace::{Change, Key, Member, Side, State},
};

/// The duration of one watch.
const WATCH_TIMEOUT_S: u32 = 300;

/// All that a server has reported since this was opened. Dropping it ends its watches.
#[derive(Debug)]
pub(super) struct Chronicle {
    history: BTreeMap<Resource, Arc<Mutex<ResourceHistory>>>,
    _tasks: TaskSet,
}

/// The history of one resource.
#[derive(Debug, Default)]
struct ResourceHistory {
    changes: Vec<Change>,
    present_objects: BTreeMap<Key, HeldObject>,
    /// The version up to which the history is complete.
    revision: u64,
    /// The failure after which nothing more is reported.
    failed: Option<String>,
}

#[derive(Debug)]
struct HeldObject {
    state: State,
    namespace: Arc<str>,
    side: Side,
}

// === impl Chronicle ===

impl Chronicle {
    /// Begins with the present objects of the server behind `router`.
    pub(super) async fn open(router: &Router) -> Result<Self, LiveError> {
        let mut history = BTreeMap::new();
        let mut tasks = TaskSet::new();
        for resource in Resource::ALL {
            let list: List = ask(router, &all(resource)).await?;
            let mut begun = ResourceHistory::default();
            let mut items = list.items;
            // In the order of a log.
            items.sort_by_key(|item| item.metadata.revision());
            for item in &items {
                begun.is_there(resource, &item.metadata);
            }
            begun.revision = list.metadata.revision();
            let begun = Arc::new(Mutex::new(begun));
            tasks.spawn(follow(router.clone(), resource, Arc::clone(&begun)));
            history.insert(resource, begun);
        }
        Ok(Self {
            history,
            _tasks: tasks,
        })
    }

    /// Returns true if the history of a resource is complete up to this revision.
    pub(super) fn has_come_to(&self, resource: Resource, revision: u64) -> bool {
        self.of(resource).revision >= revision
    }

    /// Returns the objects of a selection that the server holds, according to the history.
    pub(super) fn members(&self, selection: &Selection) -> Vec<Member> {
        let history = self.of(selection.resource);
        let present_objects = history.present_objects.iter();
        let selected = present_objects.filter(|(_, object)| {
            let side = &object.side;
            selection.contains(&object.namespace, side.label.as_deref(), side.is_spoiled)
        });
        selected
            .map(|(key, object)| Member {
                key: Key::clone(key),
                state: object.state.clone(),
            })
            .collect()
    }

    /// Returns all changes of a resource in order. Objects from before the beginning count as created then.
    ///
    /// # Errors
    ///
    /// [`LiveError::Chronicle`]: the history is incomplete.
    pub(super) fn changes(&self, resource: Resource) -> Result<Vec<Change>, LiveError> {
        let history = self.of(resource);
        match &history.failed {
            Some(why) => Err(LiveError::Chronicle {
                resource: resource.plural(),
                why: why.clone(),
            }),
            None => Ok(history.changes.clone()),
        }
    }

    fn of(&self, resource: Resource) -> MutexGuard<'_, ResourceHistory> {
        lock(&self.history[&resource])
    }
}

/// Watches until a failure.
async fn follow(router: Router, resource: Resource, history: Arc<Mutex<ResourceHistory>>) {
    loop {
        // The history cannot be completed by a list: deletions in the gap would have no revision.
        if let Err(why) = watch(&router, resource, &history).await {
            lock(&history).failed = Some(why);
            return;
        }
    }
}

/// Follows one watch to its end. Fails, with a reason, if no other can follow it.
async fn watch(
    router: &Router,
    resource: Resource,
    history: &Mutex<ResourceHistory>,
) -> Result<(), String> {
    let revision = lock(history).revision;
    let path = format!(
        "{}?watch=1&allowWatchBookmarks=1&timeoutSeconds={WATCH_TIMEOUT_S}&resourceVersion={revision}",
        all(resource)
    );
    let headers = [("accept".to_owned(), "application/json".to_owned())];
    let answer = call::open(router, "GET", &path, &headers, Vec::new()).await;
    if answer.status() != 200 {
        return Err(format!("a watch is answered {}", answer.status()));
    }
    let body = answer.into_body().into_data_stream();
    let mut lines = body.map_err(io::Error::other).into_async_read().lines();
    while let Some(line) = lines.next().await {
        let line = line.map_err(|error| call::whole(&error))?;
        let event: Event = serde_json::from_str(&line).map_err(|error| error.to_string())?;
        lock(history).hear(resource, &event)?;
    }
    Ok(())
}

// === impl ResourceHistory ===

impl ResourceHistory {
    fn hear(&mut self, resource: Resource, event: &Event) -> Result<(), String> {
        let object = &event.object;
        match event.r#type.as_str() {
            "ADDED" | "MODIFIED" => self.is_there(resource, &object.metadata),
            "DELETED" => self.is_gone(resource, &object.metadata),
            "BOOKMARK" => {}
            other => return Err(format!("an event {other} of code {:?}", object.code)),
        }
        // A bookmark, too: the run waits until the history has come to its last write.
        self.revision = object.metadata.revision();
        Ok(())
    }

    fn is_there(&mut self, resource: Resource, object: &Metadata) {
        let namespace: Arc<str> = object.namespace.as_deref().unwrap_or_default().into();
        let new = HeldObject {
            state: object.state(),
            namespace: Arc::clone(&namespace),
            side: object.side(),
        };
        let after = new.side.clone();
        let old = self.present_objects.insert(object.key(), new);
        self.changes.push(Change {
            resource,
            revision: object.revision(),
            key: object.key(),
            namespace,
            before: old.map(|old| old.side),
            after: Some(after),
        });
    }

    fn is_gone(&mut self, resource: Resource, object: &Metadata) {
        let Some(old) = self.present_objects.remove(&object.key()) else {
            return;
        };
        self.changes.push(Change {
            resource,
            revision: object.revision(),
            key: object.key(),
            namespace: old.namespace,
            before: Some(old.side),
            after: None,
        });
    }
}

fn lock(history: &Mutex<ResourceHistory>) -> MutexGuard<'_, ResourceHistory> {
    history.lock().expect("no holder panics")
}
