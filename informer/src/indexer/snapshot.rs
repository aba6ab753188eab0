//! The pure core: objects, indices and the version at which they stand, as of one moment.

use std::{fmt, mem, ops::Bound, sync::Arc};

use imbl::OrdMap;

use super::{
    IndexFn, IndexerError, RecountError,
    index::Index,
    query::{KeyOf, NamespaceEnd, NamespaceStart},
};
use crate::object::{DecodeError, Object, ObjectKey, ResourceVersion};

/// The name of the index that every indexer has: objects by their namespace, the empty one for cluster-scoped objects.
pub const NAMESPACE_INDEX: &str = "namespace";

/// The contents of an indexer at one moment. It never changes; edits of a clone do not affect it.
///
/// # Memory
///
/// A clone is a few reference counts. It keeps the versions that it shows for as long as it lives.
pub struct Snapshot<K> {
    objects: OrdMap<ObjectKey, Object<K>>,
    undecodable: OrdMap<ObjectKey, DecodeError>,
    indices: Vec<(Arc<str>, Index<K>)>,
    resource_version: ResourceVersion,
    /// The failures of index functions since the last publication.
    failures: Vec<IndexFailure>,
}

/// An index function refused an object.
#[derive(Clone, Debug)]
pub(super) struct IndexFailure {
    pub(super) index: Arc<str>,
    pub(super) key: ObjectKey,
    pub(super) reason: Arc<str>,
}

// === impl Snapshot ===

impl<K> Snapshot<K> {
    /// Holds nothing, at an unknown version, with the namespace index only.
    pub fn new() -> Self {
        Self {
            objects: OrdMap::new(),
            undecodable: OrdMap::new(),
            indices: Vec::new(),
            resource_version: ResourceVersion::unknown(),
            failures: Vec::new(),
        }
    }

    /// Puts `object` under its key; gives what was there.
    ///
    /// The key is no longer undecodable.
    pub fn insert(&mut self, object: Object<K>) -> Option<Object<K>> {
        let key = object.key().clone();
        self.undecodable.remove(&key);
        let old = self.objects.get(&key).cloned();
        self.reindex(&key, old.as_ref(), Some(&object));
        self.objects.insert(key, object);
        old
    }

    /// Removes the object, or the mark of an undecodable one, under `key`; returns the object.
    pub fn remove(&mut self, key: &ObjectKey) -> Option<Object<K>> {
        self.undecodable.remove(key);
        let old = self.objects.remove(key)?;
        self.reindex(key, Some(&old), None);
        Some(old)
    }

    /// Takes out what is under the error's key, and remembers that its newest version cannot be decoded.
    pub fn mark_undecodable(&mut self, error: DecodeError) -> Option<Object<K>> {
        let old = self.remove(&error.key);
        self.undecodable.insert(error.key.clone(), error);
        old
    }

    /// Sets the version up to which every change is visible.
    pub fn set_resource_version(&mut self, version: ResourceVersion) {
        self.resource_version = version;
    }

    /// Adds an index over the objects that are held and those that will be.
    ///
    /// # Errors
    ///
    /// There is an index of this name; nothing was changed.
    pub fn add_index(
        &mut self,
        name: impl Into<Arc<str>>,
        function: IndexFn<K>,
    ) -> Result<(), IndexerError> {
        let name = name.into();
        if self.has_index(&name) {
            let name = name.to_string();
            return Err(IndexerError::DuplicateIndex { name });
        }
        let mut index = Index::new(function);
        for (key, object) in &self.objects {
            let outcome = index.apply(key, None, Some(object));
            note_failure(&mut self.failures, &name, key, outcome);
        }
        self.indices.push((name, index));
        Ok(())
    }

    /// Removes an index.
    ///
    /// # Errors
    ///
    /// There is no such index, or it is the one that every indexer has; nothing was changed.
    pub fn remove_index(&mut self, name: &str) -> Result<(), IndexerError> {
        if name == NAMESPACE_INDEX {
            let name = name.to_owned();
            return Err(IndexerError::PermanentIndex { name });
        }
        self.index(name)?;
        self.indices.retain(|(own, _)| **own != *name);
        Ok(())
    }

    /// Returns the object under `key`.
    pub fn get(&self, key: &ObjectKey) -> Option<&Object<K>> {
        self.objects.get(key)
    }

    /// Returns the object of this name. The namespace of cluster-scoped objects is empty.
    pub fn get_by_name(&self, namespace: &str, name: &str) -> Option<&Object<K>> {
        self.objects.get(&KeyOf { namespace, name })
    }

    /// Returns the number of objects.
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// Returns whether there are no objects.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// Iterates over all objects in order of their keys.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Object<K>> {
        self.objects.values()
    }

    /// Iterates over the objects whose keys come after `key`, in order; over all of them after `None`.
    pub fn iter_after<'a>(
        &'a self,
        key: Option<&'a ObjectKey>,
    ) -> impl Iterator<Item = &'a Object<K>> {
        let start = key.map_or(Bound::Unbounded, Bound::Excluded);
        let range = self
            .objects
            .range::<_, ObjectKey>((start, Bound::Unbounded));
        range.map(|(_, object)| object)
    }

    /// Iterates over the objects of one namespace in order of their names. The namespace of cluster-scoped objects is empty.
    pub fn namespace<'a>(&'a self, namespace: &'a str) -> impl Iterator<Item = &'a Object<K>> {
        self.objects
            .range(NamespaceStart(namespace)..)
            .take_while(move |(key, _)| key.namespace() == namespace)
            .map(|(_, object)| object)
    }

    /// Returns the objects that the index `name` has under `value`, in order of their keys.
    ///
    /// # Errors
    ///
    /// [`IndexerError::UnknownIndex`] if there is no such index.
    #[doc(alias = "ByIndex")]
    pub fn by_index(&self, name: &str, value: &str) -> Result<Vec<Object<K>>, IndexerError> {
        if name == NAMESPACE_INDEX {
            return Ok(self.namespace(value).cloned().collect());
        }
        Ok(self.index(name)?.objects(value).cloned().collect())
    }

    /// Returns the keys of the objects that the index `name` has under `value`, in order.
    ///
    /// # Errors
    ///
    /// [`IndexerError::UnknownIndex`] if there is no such index.
    #[doc(alias = "IndexKeys")]
    pub fn index_keys(&self, name: &str, value: &str) -> Result<Vec<ObjectKey>, IndexerError> {
        if name == NAMESPACE_INDEX {
            let objects = self.namespace(value);
            return Ok(objects.map(|object| object.key().clone()).collect());
        }
        let objects = self.index(name)?.objects(value);
        Ok(objects.map(|object| object.key().clone()).collect())
    }

    /// Returns the values under which the index `name` has objects, sorted.
    ///
    /// # Errors
    ///
    /// [`IndexerError::UnknownIndex`] if there is no such index.
    #[doc(alias = "ListIndexFuncValues")]
    pub fn list_index_values(&self, name: &str) -> Result<Vec<Arc<str>>, IndexerError> {
        if name == NAMESPACE_INDEX {
            return Ok(self.namespaces());
        }
        Ok(self.index(name)?.values().cloned().collect())
    }

    /// Returns the keys of the objects for which the function of the index `name` failed, each with its error.
    ///
    /// # Errors
    ///
    /// [`IndexerError::UnknownIndex`] if there is no such index.
    pub fn unindexed(&self, name: &str) -> Result<Vec<(ObjectKey, Arc<str>)>, IndexerError> {
        if name == NAMESPACE_INDEX {
            return Ok(Vec::new());
        }
        let unindexed = self.index(name)?.unindexed();
        let own = |(key, reason): (&ObjectKey, &Arc<str>)| (key.clone(), Arc::clone(reason));
        Ok(unindexed.map(own).collect())
    }

    /// Returns the names of the indices, sorted.
    pub fn index_names(&self) -> Vec<Arc<str>> {
        let mut names = vec![Arc::from(NAMESPACE_INDEX)];
        names.extend(self.indices.iter().map(|(name, _)| Arc::clone(name)));
        names.sort();
        names
    }

    /// Iterates over the objects on the server that cannot be decoded, in order of their keys.
    pub fn undecodable(&self) -> impl ExactSizeIterator<Item = &DecodeError> {
        self.undecodable.values()
    }

    /// Returns the error if the newest version under `key` cannot be decoded.
    pub fn get_undecodable(&self, key: &ObjectKey) -> Option<&DecodeError> {
        self.undecodable.get(key)
    }

    /// Returns the version of the content: every change up to it is visible.
    pub fn resource_version(&self) -> &ResourceVersion {
        &self.resource_version
    }

    /// Checks that every index equals one rebuilt from the objects. Costs as much as building all indices.
    ///
    /// # Errors
    ///
    /// The first difference that was found.
    pub fn recount(&self) -> Result<(), RecountError> {
        for (key, object) in &self.objects {
            if key != object.key() {
                let key = object.key().clone();
                return Err(RecountError::Misplaced { key });
            }
        }
        self.indices
            .iter()
            .try_for_each(|(name, index)| index.recount(name, self.iter()))
    }

    pub(super) fn take_failures(&mut self) -> Vec<IndexFailure> {
        mem::take(&mut self.failures)
    }

    fn reindex(&mut self, key: &ObjectKey, old: Option<&Object<K>>, new: Option<&Object<K>>) {
        for (name, index) in &mut self.indices {
            let outcome = index.apply(key, old, new);
            note_failure(&mut self.failures, name, key, outcome);
        }
    }

    fn has_index(&self, name: &str) -> bool {
        name == NAMESPACE_INDEX || self.index(name).is_ok()
    }

    fn index(&self, name: &str) -> Result<&Index<K>, IndexerError> {
        let found = self.indices.iter().find(|(own, _)| **own == *name);
        found.map(|(_, index)| index).ok_or_else(|| {
            let name = name.to_owned();
            IndexerError::UnknownIndex { name }
        })
    }

    fn namespaces(&self) -> Vec<Arc<str>> {
        let mut namespaces: Vec<Arc<str>> = Vec::new();
        let mut next = self.objects.get_min().map(|(key, _)| key);
        while let Some(key) = next {
            // Jumps over all other keys of this namespace.
            let mut rest = self.objects.range(NamespaceEnd(key.namespace())..);
            next = rest.next().map(|(key, _)| key);
            namespaces.push(key.namespace().into());
        }
        namespaces
    }
}

fn note_failure(
    failures: &mut Vec<IndexFailure>,
    index: &Arc<str>,
    key: &ObjectKey,
    outcome: Result<(), Arc<str>>,
) {
    if let Err(reason) = outcome {
        failures.push(IndexFailure {
            index: Arc::clone(index),
            key: key.clone(),
            reason,
        });
    }
}

impl<K> Default for Snapshot<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K> Clone for Snapshot<K> {
    fn clone(&self) -> Self {
        Self {
            objects: self.objects.clone(),
            undecodable: self.undecodable.clone(),
            indices: self.indices.clone(),
            resource_version: self.resource_version.clone(),
            failures: self.failures.clone(),
        }
    }
}

impl<K> fmt::Debug for Snapshot<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot")
            .field("resource_version", &self.resource_version)
            .field("len", &self.len())
            .field("indices", &self.index_names())
            .finish_non_exhaustive()
    }
}
