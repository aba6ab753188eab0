//! The objects of a selection as of one version, and what changes them.

use std::{collections::BTreeMap, fmt};

use crate::{
    list_watch::{Arrived, WatchEvent},
    object::{
        DecodeError, Deleted, Object, ObjectKey, ResourceVersion, Tombstone, TombstoneReason,
    },
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

/// What became of one object.
#[derive(Debug)]
pub(super) enum Change<K> {
    /// It is there, in this version.
    Present(Object<K>),
    /// It is gone.
    Deleted(Deleted<K>),
    /// It is there, in a version that cannot be decoded.
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

    /// Puts the state `items` at `version` in the place of this one, and tells what that changed: what went, then what came
    /// and what changed, each by key.
    pub(super) fn replace(
        &mut self,
        items: Vec<Arrived<K>>,
        version: ResourceVersion,
    ) -> Vec<Change<K>> {
        let mut old = std::mem::replace(self, Self::new());
        self.resource_version = version;
        let mut came = Vec::new();
        let mut went = Vec::new();
        for arrived in items {
            let key = key_of(&arrived).clone();
            let before = old.objects.remove(&key);
            old.undecodable.remove(&key);
            match &arrived {
                Ok(object) => {
                    let is_known = before.as_ref().is_some_and(|before| {
                        before.uid() == object.uid()
                            && before.resource_version() == object.resource_version()
                    });
                    if let Some(before) = before.filter(|before| before.uid() != object.uid()) {
                        went.push(tombstone(before, TombstoneReason::UidChanged));
                    }
                    if !is_known {
                        came.push(Change::Present(object.clone()));
                    }
                }
                Err(error) => came.push(Change::Undecodable(error.clone())),
            }
            self.put(key, arrived);
        }
        let missed = old.objects.into_values();
        went.extend(missed.map(|object| tombstone(object, TombstoneReason::MissedDelete)));
        let missed = old.undecodable.into_keys().map(|key| {
            Change::Deleted(Deleted::Tombstone(Tombstone {
                key,
                last_known: None,
                reason: TombstoneReason::MissedDelete,
            }))
        });
        went.extend(missed);
        went.extend(came);
        went
    }

    /// Takes in a change, and tells what became of the object. None for what is not a change.
    pub(super) fn apply(&mut self, event: WatchEvent<K>) -> Option<Change<K>> {
        let (arrived, is_deleted) = match event {
            WatchEvent::Added(arrived) | WatchEvent::Modified(arrived) => (arrived, false),
            WatchEvent::Deleted(arrived) => (arrived, true),
            WatchEvent::Bookmark { .. } | WatchEvent::Error(_) => return None,
        };
        let key = key_of(&arrived).clone();
        if is_deleted {
            let last_known = self.objects.remove(&key);
            self.undecodable.remove(&key);
            let deleted = match arrived {
                Ok(object) => {
                    self.resource_version = object.resource_version().clone();
                    Deleted::Object(object)
                }
                Err(error) => {
                    self.resource_version = error.resource_version;
                    Deleted::Tombstone(Tombstone {
                        key,
                        last_known,
                        reason: TombstoneReason::Undecodable,
                    })
                }
            };
            return Some(Change::Deleted(deleted));
        }
        let change = match &arrived {
            Ok(object) => {
                self.resource_version = object.resource_version().clone();
                Change::Present(object.clone())
            }
            Err(error) => {
                self.resource_version = error.resource_version.clone();
                Change::Undecodable(error.clone())
            }
        };
        self.put(key, arrived);
        Some(change)
    }

    fn put(&mut self, key: ObjectKey, arrived: Arrived<K>) {
        match arrived {
            Ok(object) => {
                self.undecodable.remove(&key);
                self.objects.insert(key, object);
            }
            Err(error) => {
                self.objects.remove(&key);
                self.undecodable.insert(key, error);
            }
        }
    }

    /// The object under `key`.
    pub fn get(&self, key: &ObjectKey) -> Option<&Object<K>> {
        self.objects.get(key)
    }

    /// The objects in order of their keys.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Object<K>> {
        self.objects.values()
    }

    /// How many objects there are. What cannot be decoded does not count.
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// Whether there is no object. What cannot be decoded does not count.
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

fn key_of<K>(arrived: &Arrived<K>) -> &ObjectKey {
    match arrived {
        Ok(object) => object.key(),
        Err(error) => &error.key,
    }
}

fn tombstone<K>(last_known: Object<K>, reason: TombstoneReason) -> Change<K> {
    Change::Deleted(Deleted::Tombstone(Tombstone {
        key: last_known.key().clone(),
        last_known: Some(last_known),
        reason,
    }))
}
