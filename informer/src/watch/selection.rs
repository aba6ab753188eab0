//! The objects of a selection as of one version, and their changes.

use std::{collections::BTreeMap, fmt};

use crate::{
    object::{
        DecodeError, Deleted, Object, ObjectKey, ResourceVersion, Tombstone, TombstoneReason,
    },
    store::{Delta, Replacement},
};

/// The objects of a selection as of one version.
///
/// # Memory
///
/// A handle for each object.
pub struct Selection<K> {
    objects: BTreeMap<ObjectKey, Object<K>>,
    undecodable: BTreeMap<ObjectKey, DecodeError>,
    resource_version: ResourceVersion,
}

/// A change of one object.
#[derive(Debug)]
pub(super) enum Change<K> {
    /// The object exists, in this version.
    Present(Object<K>),
    /// The object is gone.
    Deleted(Deleted<K>),
    /// The object exists, in a version that cannot be decoded.
    Undecodable(DecodeError),
}

// === impl Selection ===

impl<K> Selection<K> {
    pub(super) fn new() -> Self {
        Self {
            objects: BTreeMap::new(),
            undecodable: BTreeMap::new(),
            resource_version: ResourceVersion::unknown(),
        }
    }

    /// Replaces this state, and returns the differences: deletions, then new and changed objects.
    fn replace(&mut self, replacement: Replacement<K>) -> Vec<Change<K>> {
        let mut old = std::mem::replace(self, Self::new());
        self.resource_version = replacement.resource_version;
        let mut came = Vec::new();
        let mut went = Vec::new();
        for object in replacement.objects {
            let before = old.objects.remove(object.key());
            old.undecodable.remove(object.key());
            let is_same = |before: &Object<K>| before.uid() == object.uid();
            let is_known = before.as_ref().is_some_and(|before| {
                is_same(before) && before.resource_version() == object.resource_version()
            });
            if let Some(before) = before.filter(|before| !is_same(before)) {
                went.push(tombstone(before, TombstoneReason::UidChanged));
            }
            if !is_known {
                came.push(Change::Present(object.clone()));
            }
            self.objects.insert(object.key().clone(), object);
        }
        for error in replacement.undecodable {
            old.objects.remove(&error.key);
            old.undecodable.remove(&error.key);
            came.push(Change::Undecodable(error.clone()));
            self.undecodable.insert(error.key.clone(), error);
        }
        let missed = old.objects.into_values();
        went.extend(missed.map(|object| tombstone(object, TombstoneReason::MissedDelete)));
        let missed = old.undecodable.into_keys();
        went.extend(missed.map(|key| deleted(key, None, TombstoneReason::MissedDelete)));
        went.extend(came);
        went
    }

    /// Applies a change, and returns it as one of its object. None for a bookmark.
    pub(super) fn apply(&mut self, delta: Delta<K>) -> Vec<Change<K>> {
        let change = match delta {
            Delta::Upserted(object) => {
                self.resource_version = object.resource_version().clone();
                self.undecodable.remove(object.key());
                self.objects.insert(object.key().clone(), object.clone());
                Change::Present(object)
            }
            Delta::Undecodable(error) => {
                self.resource_version = error.resource_version.clone();
                self.objects.remove(&error.key);
                self.undecodable.insert(error.key.clone(), error.clone());
                Change::Undecodable(error)
            }
            Delta::Deleted(object) => {
                self.resource_version = object.resource_version().clone();
                self.objects.remove(object.key());
                self.undecodable.remove(object.key());
                Change::Deleted(Deleted::Object(object))
            }
            Delta::DeletedUndecodable(error) => {
                self.resource_version = error.resource_version;
                let last_known = self.objects.remove(&error.key);
                self.undecodable.remove(&error.key);
                deleted(error.key, last_known, TombstoneReason::Undecodable)
            }
            Delta::ReplacedAll(replacement) => return self.replace(replacement),
            Delta::Bookmark(_) => return Vec::new(),
        };
        vec![change]
    }

    /// The object under `key`.
    pub fn get(&self, key: &ObjectKey) -> Option<&Object<K>> {
        self.objects.get(key)
    }

    /// The objects in order of their keys.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Object<K>> {
        self.objects.values()
    }

    /// Returns the number of objects, without those that cannot be decoded.
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// Returns true if there is no object, apart from those that cannot be decoded.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// The objects that exist but cannot be decoded, in order of their keys.
    pub fn undecodable(&self) -> impl ExactSizeIterator<Item = &DecodeError> {
        self.undecodable.values()
    }

    pub(super) fn undecodable_at(&self, key: &ObjectKey) -> Option<&DecodeError> {
        self.undecodable.get(key)
    }

    /// The version of this state: that of the list, or of the last change since. Unknown before the first list.
    pub fn resource_version(&self) -> &ResourceVersion {
        &self.resource_version
    }
}

impl<K> fmt::Debug for Selection<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Selection")
            .field("len", &self.len())
            .field("resource_version", &self.resource_version)
            .finish_non_exhaustive()
    }
}

// === impl Change ===

impl<K> Change<K> {
    pub(super) fn key(&self) -> &ObjectKey {
        match self {
            Self::Present(object) => object.key(),
            Self::Deleted(deleted) => deleted.key(),
            Self::Undecodable(error) => &error.key,
        }
    }
}

fn tombstone<K>(last_known: Object<K>, reason: TombstoneReason) -> Change<K> {
    deleted(last_known.key().clone(), Some(last_known), reason)
}

fn deleted<K>(key: ObjectKey, last_known: Option<Object<K>>, reason: TombstoneReason) -> Change<K> {
    Change::Deleted(Deleted::Tombstone(Tombstone {
        key,
        last_known,
        reason,
    }))
}
