//! The states of a cluster, revision by revision, and the last one.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use fakeserver::{Change, ChangeKind, FakeServer, StoredObject};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::kinds::{ServedKind, ServedKinds};

/// The changes of a cluster since a revision, of all resources.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// In the order of their revisions.
    pub changes: Vec<ServedChange>,
    /// The objects at the beginning.
    pub beginning: Vec<ServedObject>,
    /// The revision at the beginning.
    pub began_at: u64,
}

/// An object, and the resource that it belongs to.
#[derive(Clone, Debug)]
pub struct ServedObject {
    /// The resource.
    pub kind: Arc<ServedKind>,
    /// The stored object.
    pub object: Arc<StoredObject>,
}

/// A change of an object.
#[derive(Clone, Debug)]
pub struct ServedChange {
    /// The resource.
    pub kind: Arc<ServedKind>,
    /// The change.
    pub change: Arc<Change>,
}

// === impl History ===

impl History {
    /// Reads the changes of a server after the revision `beginning`.
    pub(super) fn of(server: &FakeServer, kinds: &ServedKinds, beginning: u64) -> Self {
        let mut history = Self {
            began_at: beginning,
            ..Self::default()
        };
        for kind in kinds.resources() {
            let changes = server.history(&kind.group, &kind.version, &kind.resource, beginning);
            let mut touched = BTreeSet::new();
            for change in changes {
                let subject = change.before().or(change.after());
                if let Some(before) = change.before()
                    && before.revision() <= beginning
                {
                    history.beginning.push(ServedObject {
                        kind: Arc::clone(kind),
                        object: Arc::clone(before),
                    });
                }
                touched.extend(subject.map(|it| it.uid().to_owned()));
                history.changes.push(ServedChange {
                    kind: Arc::clone(kind),
                    change,
                });
            }
            let now = server.objects(&kind.group, &kind.version, &kind.resource);
            let unchanged = now.into_iter().filter(|it| !touched.contains(it.uid()));
            history
                .beginning
                .extend(unchanged.map(|object| ServedObject {
                    kind: Arc::clone(kind),
                    object,
                }));
        }
        history.changes.sort_by_key(|it| it.change.revision());
        history
    }

    /// Returns the objects that there are in the end.
    pub fn end(&self) -> Vec<ServedObject> {
        let mut objects: BTreeMap<String, ServedObject> = BTreeMap::new();
        for found in &self.beginning {
            objects.insert(found.object.uid().to_owned(), found.clone());
        }
        for recorded in &self.changes {
            if let Some(before) = recorded.change.before() {
                objects.remove(before.uid());
            }
            if let Some(after) = recorded.change.after() {
                let found = ServedObject {
                    kind: Arc::clone(&recorded.kind),
                    object: Arc::clone(after),
                };
                objects.insert(after.uid().to_owned(), found);
            }
        }
        objects.into_values().collect()
    }

    /// Returns the numbers of creations and deletions of each resource.
    pub fn counts(&self) -> BTreeMap<String, Counts> {
        let mut counts: BTreeMap<String, Counts> = BTreeMap::new();
        for recorded in &self.changes {
            let counts = counts.entry(recorded.kind.full_name()).or_default();
            match recorded.change.kind() {
                ChangeKind::Created => counts.created += 1,
                ChangeKind::Deleted => counts.deleted += 1,
                ChangeKind::Updated => {}
            }
        }
        counts
    }
}

/// The numbers of creations and deletions of one resource.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Objects that were created.
    pub created: usize,
    /// Objects that were deleted.
    pub deleted: usize,
}

// === impl ServedObject ===

impl ServedObject {
    /// Returns the object with its kind.
    pub fn value(&self) -> Value {
        let mut value = self.object.to_value();
        value["apiVersion"] = self.kind.api_version().into();
        value["kind"] = self.kind.kind.clone().into();
        value
    }

    /// Returns whether the object's JSON contains a word. Much quicker than parsing it.
    pub(super) fn mentions(&self, word: &str) -> bool {
        let json = self.object.json();
        std::str::from_utf8(&json).is_ok_and(|text| text.contains(word))
    }

    /// Returns the resource and the name, for people.
    pub fn title(&self) -> String {
        title(&self.kind, &self.object)
    }
}

/// Returns the resource and the name of an object, for people.
pub(super) fn title(kind: &ServedKind, object: &StoredObject) -> String {
    let resource = kind.full_name();
    match object.namespace() {
        Some(namespace) => format!("{resource} {namespace}/{}", object.name()),
        None => format!("{resource} {}", object.name()),
    }
}
