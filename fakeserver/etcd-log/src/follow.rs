//! The state and the changes of etcd, for the follower.

use std::{sync::Arc, time::Duration};

use fakeserver_etcd::{Key, ServerKey, ValueError, decode};
use fakeserver_kinds::registry::Registry;
use fakeserver_server::store::{LogError, LoggedChange, LoggedObject, ObjectKey};
use fakeserver_value::revision::Revision;
use serde_json::Value;
use tokio::time::sleep;
use tracing::{debug, info, warn};

use crate::{
    client::{ClientError, Event, KeyValue, RangeRequest, WatchCreateRequest, WatchResponse},
    log::{Shared, revision_of},
};

/// The number of keys that are read at a time.
const PAGE_KEYS: i64 = 1_000;
/// The time until a lost watch is resumed.
const PAUSE: Duration = Duration::from_millis(200);
/// The number of times that the first state is asked for, if etcd does not answer.
const LOAD_ATTEMPTS: usize = 5;

/// The reason why a watch has ended.
enum WatchEnd {
    Lost(String),
    /// Some of the next changes are gone: the state has to be read anew.
    Compacted,
}

/// The reason why the state was not read.
enum LoadError {
    Client(ClientError),
    /// The state has a value that cannot be served.
    Value(LogError),
}

// === impl Shared ===

impl Shared {
    /// Returns the resources that the follower serves.
    pub(crate) fn served(&self) -> Result<Arc<Registry>, LogError> {
        let served = self.follower().and_then(|follower| follower.registry());
        served.ok_or_else(|| LogError::new("the server has ended"))
    }

    /// Passes the state to the follower.
    ///
    /// # Errors
    ///
    /// etcd does not answer, or an object cannot be read.
    pub(crate) async fn load(&self) -> Result<(), LogError> {
        let mut attempt = 1;
        loop {
            let error = match self.load_once().await {
                Ok(()) => return Ok(()),
                Err(LoadError::Value(error)) => return Err(error),
                // Also if it was compacted between two pages: from the start.
                Err(LoadError::Client(error)) => error,
            };
            if attempt == LOAD_ATTEMPTS {
                return Err(LogError::new(format!(
                    "{}: {error}; is etcd running there?",
                    self.options.urls.join(",")
                )));
            }
            attempt += 1;
            sleep(PAUSE).await;
        }
    }

    async fn load_once(&self) -> Result<(), LoadError> {
        let registry = self.served().map_err(LoadError::Value)?;
        let mut objects = Vec::new();
        let mut start = self.layout().prefix().as_bytes().to_vec();
        let end = end_of(&start);
        let mut revision = 0;
        loop {
            let request = RangeRequest {
                key: start,
                range_end: end.clone(),
                limit: PAGE_KEYS,
                // All pages are of the revision of the first one.
                revision,
            };
            let page = self.client.range(request).await;
            let page = page.map_err(LoadError::Client)?;
            if revision == 0 {
                revision = page.header.unwrap_or_default().revision;
            }
            let last = page.kvs.last().map(|kv| kv.key.clone());
            for kv in &page.kvs {
                objects.extend(self.object(&registry, kv).map_err(LoadError::Value)?);
            }
            match last {
                Some(mut last) if page.more => {
                    last.push(0);
                    start = last;
                }
                _ => break,
            }
        }
        info!(
            objects = objects.len(),
            rv = revision,
            "state loaded from etcd"
        );
        if let Some(follower) = self.follower() {
            follower.restore(revision_of(revision), objects);
        }
        self.applied.send_replace(revision);
        Ok(())
    }

    /// Reads an object of the state; `None` if the key is none of an object.
    ///
    /// # Errors
    ///
    /// The value is damaged or encrypted.
    fn object(&self, registry: &Registry, kv: &KeyValue) -> Result<Option<LoggedObject>, LogError> {
        let Some(key) = self.object_key(&kv.key) else {
            return Ok(None);
        };
        let revision = revision_of(kv.mod_revision);
        let text = || String::from_utf8_lossy(&kv.key).into_owned();
        match value(registry, &key, &kv.value, revision) {
            Ok(object) => Ok(Some(LoggedObject {
                key,
                revision,
                object,
            })),
            Err(error) if error.is_unknown_kind() => {
                warn!(
                    key = text(),
                    error = &error as &dyn std::error::Error,
                    "object not served"
                );
                Ok(None)
            }
            Err(error) => Err(LogError::new(format!("etcd: {}: {error}", text()))),
        }
    }

    fn object_key(&self, key: &[u8]) -> Option<ObjectKey> {
        let Key::Object(path) = self.layout().parse_key(key) else {
            return None;
        };
        let namespace = path.namespace.as_deref();
        Some(ObjectKey::new(path.resource, namespace, &path.name))
    }

    /// Passes every change to the follower. A lost watch is resumed, or the state is loaded anew.
    pub(crate) async fn follow(&self) {
        // The revision at which the watch was lost last: an etcd that is away is told of once.
        let mut lost_at = None;
        loop {
            match self.follow_once().await {
                WatchEnd::Lost(reason) => {
                    let applied = Some(*self.applied.borrow());
                    if lost_at == applied {
                        debug!(error = reason, "watch of etcd not resumed");
                    } else {
                        warn!(error = reason, "watch of etcd lost; it is resumed");
                    }
                    lost_at = applied;
                }
                WatchEnd::Compacted => {
                    warn!("watch of etcd compacted; the state is loaded anew");
                    if let Err(error) = self.load().await {
                        warn!(error = &error as &dyn std::error::Error, "state not loaded");
                    }
                }
            }
            sleep(PAUSE).await;
        }
    }

    async fn follow_once(&self) -> WatchEnd {
        let request = WatchCreateRequest {
            // All keys.
            key: vec![0],
            range_end: vec![0],
            start_revision: *self.applied.borrow() + 1,
            fragment: true,
        };
        let mut watch = match self.client.watch(request).await {
            Ok(watch) => watch,
            Err(error) => return WatchEnd::Lost(error.to_string()),
        };
        let mut events = Vec::new();
        loop {
            let response = match watch.next().await {
                Ok(Some(response)) => response,
                Ok(None) => return WatchEnd::Lost("it has ended".to_owned()),
                Err(error) => return WatchEnd::Lost(error.to_string()),
            };
            let WatchResponse {
                canceled,
                compact_revision,
                cancel_reason,
                fragment,
                events: more,
                ..
            } = response;
            if compact_revision > 0 {
                return WatchEnd::Compacted;
            }
            if canceled {
                return WatchEnd::Lost(cancel_reason);
            }
            events.extend(more);
            if !fragment {
                self.apply(std::mem::take(&mut events));
            }
        }
    }

    /// Passes events to the follower, those of a revision together.
    fn apply(&self, events: Vec<Event>) {
        let Some(follower) = self.follower() else {
            return;
        };
        let mut events = events
            .into_iter()
            .filter_map(|event| Some((event.is_deletion(), event.kv?)))
            .peekable();
        while let Some((_, first)) = events.peek() {
            let revision = first.mod_revision;
            let mut changes = Vec::new();
            let mut compacted = None;
            while let Some((is_deletion, kv)) =
                events.next_if(|(_, kv)| kv.mod_revision == revision)
            {
                if self.layout().parse_key(&kv.key) == Key::Server(ServerKey::Compaction) {
                    compacted = std::str::from_utf8(&kv.value)
                        .ok()
                        .and_then(|it| it.parse().ok());
                }
                changes.extend(self.change(is_deletion, &kv));
            }
            follower.apply(revision_of(revision), changes);
            if let Some(compacted) = compacted {
                follower.compact(Revision::new(compacted));
            }
            self.applied.send_replace(revision);
        }
    }

    /// Reads a change. An object that cannot be read is none for this server.
    fn change(&self, is_deletion: bool, kv: &KeyValue) -> Option<LoggedChange> {
        let key = self.object_key(&kv.key)?;
        if is_deletion {
            return Some(LoggedChange { key, object: None });
        }
        let registry = self.served().ok()?;
        let object = value(&registry, &key, &kv.value, revision_of(kv.mod_revision));
        let object = object.inspect_err(|error| {
            let key = String::from_utf8_lossy(&kv.key).into_owned();
            warn!(
                key,
                error = error as &dyn std::error::Error,
                "object not served"
            );
        });
        Some(LoggedChange {
            key,
            object: object.ok(),
        })
    }
}

/// Reads the object in a value. A custom one names its version.
fn value(
    registry: &Registry,
    key: &ObjectKey,
    value: &[u8],
    revision: Revision,
) -> Result<Value, ValueError> {
    let stored = decode(registry.kubernetes(), key.resource(), value, revision)?;
    let mut object = stored.object;
    if stored.is_custom {
        object["apiVersion"] = stored.meta.api_version.into();
    }
    Ok(object)
}

/// Returns the end of the range of keys with a prefix.
fn end_of(prefix: &[u8]) -> Vec<u8> {
    let mut end = prefix.to_vec();
    // Prefixes end with a slash, after which there is a character.
    if let Some(last) = end.last_mut() {
        *last += 1;
    }
    end
}
