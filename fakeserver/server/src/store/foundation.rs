//! The first objects of stores, made once and shared.

use std::sync::Arc;

use fakeserver_value::{object::Pairs, revision::Revision};
use serde_json::Value;

use super::{Compaction, ObjectKey, StoredObject, state::State};

/// The initial objects of stores, which share them and the maps that hold them.
///
/// Each object has its own revision, but no history.
#[derive(Debug)]
pub struct Foundation(State);

// === impl Foundation ===

impl Foundation {
    /// Creates a foundation of objects with their selectable fields, in the order of their revisions.
    pub fn new(objects: impl IntoIterator<Item = (ObjectKey, Value, Pairs)>) -> Self {
        let mut revision = Revision::FIRST;
        let objects = objects.into_iter().map(|(key, object, fields)| {
            revision = revision.next();
            Arc::new(StoredObject::new(key, revision, object, fields))
        });
        let objects: Vec<_> = objects.collect();
        Self(State::restored(Compaction::default(), revision, objects))
    }

    /// Returns the state of a store that begins here.
    pub(super) fn state(&self, compaction: Compaction) -> State {
        self.0.fork(compaction)
    }
}
