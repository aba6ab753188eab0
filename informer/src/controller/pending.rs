//! The pure core of the gate: which writes each key has to see before it is reconciled again.

use std::{any::TypeId, collections::BTreeMap};

use crate::object::{Metadata, ObjectKey};

/// The writes that were made for each key and not seen yet.
#[derive(Debug, Default)]
pub(super) struct Pending(BTreeMap<ObjectKey, UnseenWrites>);

/// The writes of one key, by the type of the objects.
pub(super) type UnseenWrites = BTreeMap<TypeId, Writes>;

/// The writes of one type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Writes {
    /// The objects as the server answered, without those that a later one of these makes superfluous.
    pub(super) answered: Vec<Metadata>,
    /// The objects to which there was a write whose answer was lost.
    pub(super) lost: Vec<LostWrite>,
}

/// An object to which there was a write whose answer was lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LostWrite {
    pub(super) namespace: Box<str>,
    /// `None` if the server was to choose it.
    pub(super) name: Option<Box<str>>,
}

// === impl Pending ===

impl Pending {
    /// Notes the answer to a write that was made for `key`.
    pub(super) fn answered(&mut self, key: &ObjectKey, of: TypeId, written: Metadata) {
        let answered = &mut self.writes(key, of).answered;
        answered.retain(|earlier| {
            let is_covered = earlier
                .resource_version
                .is_before(&written.resource_version);
            !is_covered || earlier.key.namespace() != written.key.namespace()
        });
        answered.push(written);
    }

    /// Notes a write that may have been carried out, or not.
    pub(super) fn lost(&mut self, key: &ObjectKey, of: TypeId, write: LostWrite) {
        let lost = &mut self.writes(key, of).lost;
        if !lost.contains(&write) {
            lost.push(write);
        }
    }

    /// Returns what `key` has to see; `None` if there is nothing.
    pub(super) fn of(&self, key: &ObjectKey) -> Option<UnseenWrites> {
        self.0.get(key).cloned()
    }

    /// Forgets what was seen, unless something was written meanwhile.
    pub(super) fn seen(&mut self, key: &ObjectKey, seen: &UnseenWrites) {
        // Compared as a whole: a write that was noted during the wait has still to be waited for.
        if self.0.get(key) == Some(seen) {
            self.0.remove(key);
        }
    }

    /// Returns the number of keys that have something to see.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    fn writes(&mut self, key: &ObjectKey, of: TypeId) -> &mut Writes {
        let unseen = self.0.entry(key.clone()).or_default();
        unseen.entry(of).or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::{Labels, ResourceVersion};

    fn written(namespace: &str, name: &str, version: &str) -> Metadata {
        Metadata {
            key: ObjectKey::new(namespace, name),
            uid: "uid".into(),
            resource_version: ResourceVersion::new(version),
            labels: Labels::default(),
            owners: [].into(),
            is_terminating: false,
        }
    }

    fn names(pending: &Pending, key: &ObjectKey) -> Vec<String> {
        let unseen = pending.of(key).unwrap_or_default();
        let answered = unseen.values().flat_map(|writes| &writes.answered);
        answered.map(|written| written.key.to_string()).collect()
    }

    #[test]
    fn the_latest_write_of_a_namespace_stands_for_those_before() {
        let (mut pending, key) = (Pending::default(), ObjectKey::new("a", "x"));
        let pods = TypeId::of::<u8>();
        pending.answered(&key, pods, written("a", "pod-1", "9"));
        pending.answered(&key, pods, written("a", "pod-2", "10"));
        pending.answered(&key, pods, written("b", "pod-3", "11"));
        assert_eq!(names(&pending, &key), ["a/pod-2", "b/pod-3"]);
        // What cannot be compared is kept.
        pending.answered(&key, pods, written("a", "pod-4", "z"));
        assert_eq!(names(&pending, &key), ["a/pod-2", "b/pod-3", "a/pod-4"]);
        assert_eq!(pending.of(&ObjectKey::new("a", "y")), None);
    }

    #[test]
    fn writes_during_a_wait_outlive_it() {
        let (mut pending, key) = (Pending::default(), ObjectKey::new("a", "x"));
        let pods = TypeId::of::<u8>();
        let lost = LostWrite {
            namespace: "a".into(),
            name: None,
        };
        pending.lost(&key, pods, lost.clone());
        pending.lost(&key, pods, lost);
        let seen = pending.of(&key).unwrap();
        assert_eq!(seen[&pods].lost.len(), 1);
        pending.answered(&key, pods, written("a", "pod-1", "9"));
        pending.seen(&key, &seen);
        assert_eq!(pending.len(), 1);
        let seen = pending.of(&key).unwrap();
        pending.seen(&key, &seen);
        assert_eq!(pending.len(), 0);
    }
}
