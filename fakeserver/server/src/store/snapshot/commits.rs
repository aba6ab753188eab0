//! Commits as records of a log, and their effect on a snapshot.
//!
//! ```text
//! {"revision":48,"time":"...","drawn":{...},"changes":[{"group":"","resource":"pods","object":{...}}]}
//! {"revision":49,"time":"...","drawn":{...},"changes":[{"group":"","resource":"pods","namespace":"default","deleted":"p"}]}
//! ```

use std::{collections::BTreeMap, sync::Arc};

use fakeserver_kinds::storage_of;
use fakeserver_value::revision::Revision;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::{
    SavedObject, Snapshot,
    format::{join_lines, saved_object},
};
use crate::{
    entropy::Position,
    store::{Change, ObjectKey},
};

/// A transaction that changed the store.
#[derive(Debug)]
pub struct Commit {
    /// At least one, in the order of their revisions.
    pub(super) changes: Vec<Arc<Change>>,
    pub(super) time: Timestamp,
    /// The positions of the generators, from which everything in it was drawn.
    pub(super) drawn: Position,
}

/// A snapshot to which commits are applied.
pub(super) struct Replay {
    snapshot: Snapshot,
    objects: BTreeMap<ObjectKey, SavedObject>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Line<'a> {
    /// The revision after the last change.
    revision: u64,
    time: Timestamp,
    drawn: Position,
    #[serde(borrow)]
    changes: Vec<LoggedChange<'a>>,
}

#[derive(Debug, Serialize, Deserialize)]
struct LoggedChange<'a> {
    group: &'a str,
    resource: &'a str,
    /// The object after the change, as in a snapshot.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    object: Option<&'a RawValue>,
    #[serde(
        rename = "apiVersion",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    stored_version: Option<String>,
    /// The name of a deleted object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    deleted: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    namespace: Option<String>,
}

// === impl Commit ===

impl Commit {
    /// Returns about how many bytes its record has.
    pub(super) fn length(&self) -> usize {
        /// The bytes around the JSON of an object.
        const AROUND: usize = 256;
        let lengths = self.changes.iter().map(|change| {
            let object = change.after().map_or(0, |object| object.json_length());
            object + AROUND
        });
        lengths.sum()
    }

    /// Returns the revision of the store after it.
    pub(super) fn revision(&self) -> u64 {
        self.changes.last().map_or(0, |change| change.revision())
    }

    /// Appends it to `out`, on one line.
    pub(super) fn print(&self, out: &mut Vec<u8>) {
        let jsons: Vec<_> = self
            .changes
            .iter()
            .map(|change| change.after().map(|object| object.json()))
            .collect();
        let changes = self.changes.iter().zip(&jsons).map(|(change, json)| {
            let (key, resource) = (change.key(), change.resource());
            let after = change.after();
            let is_deleted = after.is_none();
            let object = json
                .as_ref()
                .map(|json| serde_json::from_slice(json).expect("stored objects are JSON"));
            LoggedChange {
                group: resource.group(),
                resource: resource.resource(),
                object,
                stored_version: after
                    .map(|object| object.stored_version().to_owned())
                    .filter(|version| !version.is_empty()),
                deleted: is_deleted.then(|| key.name().to_owned()),
                namespace: key.namespace().filter(|_| is_deleted).map(str::to_owned),
            }
        });
        let line = Line {
            revision: self.revision(),
            time: self.time,
            drawn: self.drawn,
            changes: changes.collect(),
        };
        let start = out.len();
        serde_json::to_writer(&mut *out, &line).expect("commits serialize into memory");
        join_lines(&mut out[start..]);
    }
}

// === impl Replay ===

impl Replay {
    pub(super) fn new(mut snapshot: Snapshot) -> Self {
        let objects = std::mem::take(&mut snapshot.objects).into_iter();
        Self {
            objects: objects.map(|object| (object.key.clone(), object)).collect(),
            snapshot,
        }
    }

    /// Applies a commit; the error says why it is none that follows.
    pub(super) fn apply(&mut self, payload: &[u8]) -> Result<(), String> {
        let line: Line<'_> = serde_json::from_slice(payload).map_err(|error| error.to_string())?;
        let after = self.snapshot.revision.get() + line.changes.len() as u64;
        if line.revision != after {
            return Err(format!(
                "the commit ends at revision {}, and {after} is due",
                line.revision
            ));
        }
        for change in line.changes {
            match (change.object, change.deleted) {
                (Some(object), None) => {
                    let LoggedChange {
                        group,
                        resource,
                        stored_version,
                        ..
                    } = change;
                    let object = saved_object(group, resource, stored_version, object)?;
                    if object.revision.get() > line.revision {
                        return Err(format!("an object is of revision {}", object.revision));
                    }
                    self.objects.insert(object.key.clone(), object);
                }
                (None, Some(name)) => {
                    let resource = storage_of(change.group, change.resource);
                    let key = ObjectKey::new(resource, change.namespace.as_deref(), &name);
                    if self.objects.remove(&key).is_none() {
                        return Err(format!("there is no object {key} to delete"));
                    }
                }
                _ => return Err("a change has an object or a deleted name".to_owned()),
            }
        }
        self.snapshot.revision = Revision::new(line.revision);
        self.snapshot.time = line.time;
        self.snapshot.drawn = line.drawn;
        Ok(())
    }

    /// Returns the snapshot after all commits.
    pub(super) fn finish(self) -> Snapshot {
        let mut snapshot = self.snapshot;
        snapshot.objects = self.objects.into_values().collect();
        snapshot.objects.sort_by_key(|kept| !kept.is_definition());
        snapshot
    }
}
