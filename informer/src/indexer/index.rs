//! One index: an ordered set of (value, key).

use std::sync::Arc;

use imbl::{OrdMap, OrdSet};

use super::{
    IndexFn, RecountError,
    query::{ValueEnd, ValueStart},
};
use crate::object::{Object, ObjectKey};

/// An object is found under a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    pub(super) value: Arc<str>,
    pub(super) key: ObjectKey,
}

#[derive(Debug)]
pub(super) struct Index<K> {
    function: IndexFn<K>,
    entries: OrdSet<Entry>,
    /// Objects for which the function failed, and what it said.
    unindexed: OrdMap<ObjectKey, Arc<str>>,
}

// === impl Index ===

impl<K> Index<K> {
    pub(super) fn new(function: IndexFn<K>) -> Self {
        Self {
            function,
            entries: OrdSet::new(),
            unindexed: OrdMap::new(),
        }
    }

    /// Follows the change of `key` from `old` to `new`; says why the new state is not indexed, if so.
    pub(super) fn apply(
        &mut self,
        key: &ObjectKey,
        old: Option<&Object<K>>,
        new: Option<&Object<K>>,
    ) -> Result<(), Arc<str>> {
        self.unindexed.remove(key);
        // Where the function fails for the old state, it failed when that came, and put it nowhere.
        let before = old.and_then(|old| self.function.values(old).ok());
        let before = before.unwrap_or_default();
        let after = new.map(|new| self.function.values(new)).transpose();
        let (after, outcome) = match after {
            Ok(after) => (after.unwrap_or_default(), Ok(())),
            Err(reason) => (Vec::new(), Err(reason)),
        };
        if before != after {
            for value in &before {
                if after.binary_search(value).is_err() {
                    self.remove(value, key);
                }
            }
            for value in after {
                if before.binary_search(&value).is_err() {
                    self.insert(value, key);
                }
            }
        }
        if let Err(reason) = &outcome {
            self.unindexed.insert(key.clone(), Arc::clone(reason));
        }
        outcome
    }

    pub(super) fn keys<'a>(&'a self, value: &'a str) -> impl Iterator<Item = &'a ObjectKey> {
        self.entries
            .range(ValueStart(value)..)
            .take_while(move |entry| *entry.value == *value)
            .map(|entry| &entry.key)
    }

    /// The distinct values, sorted.
    pub(super) fn values(&self) -> impl Iterator<Item = &Arc<str>> {
        let mut last: Option<&Arc<str>> = None;
        std::iter::from_fn(move || {
            // Jumps over all other entries of the last value.
            let next = match last {
                None => self.entries.get_min(),
                Some(value) => self.entries.range(ValueEnd(value)..).next(),
            };
            last = next.map(|entry| &entry.value);
            last
        })
    }

    pub(super) fn unindexed(&self) -> impl Iterator<Item = (&ObjectKey, &Arc<str>)> {
        self.unindexed.iter()
    }

    /// Counts the index again from `objects`.
    pub(super) fn recount<'a>(
        &self,
        name: &Arc<str>,
        objects: impl Iterator<Item = &'a Object<K>>,
    ) -> Result<(), RecountError>
    where
        K: 'a,
    {
        let mut expected = Self::new(self.function.clone());
        for object in objects {
            // A failure is counted too, among those that are not indexed.
            let _ = expected.apply(object.key(), None, Some(object));
        }
        let index = || Arc::clone(name);
        let missing = expected.entries.iter().find(|e| !self.entries.contains(*e));
        if let Some(Entry { value, key }) = missing.cloned() {
            let index = index();
            return Err(RecountError::Missing { index, value, key });
        }
        let surplus = self.entries.iter().find(|e| !expected.entries.contains(*e));
        if let Some(Entry { value, key }) = surplus.cloned() {
            let index = index();
            return Err(RecountError::Surplus { index, value, key });
        }
        if !self.unindexed.keys().eq(expected.unindexed.keys()) {
            return Err(RecountError::Unindexed { index: index() });
        }
        Ok(())
    }

    fn insert(&mut self, value: Arc<str>, key: &ObjectKey) {
        // All entries of one value share its text.
        let shared = self.entries.range(ValueStart(&value)..).next();
        let value = match shared {
            Some(entry) if entry.value == value => Arc::clone(&entry.value),
            _ => value,
        };
        let key = key.clone();
        self.entries.insert(Entry { value, key });
    }

    fn remove(&mut self, value: &Arc<str>, key: &ObjectKey) {
        let (value, key) = (Arc::clone(value), key.clone());
        self.entries.remove(&Entry { value, key });
    }
}

impl<K> Clone for Index<K> {
    fn clone(&self) -> Self {
        Self {
            function: self.function.clone(),
            entries: self.entries.clone(),
            unindexed: self.unindexed.clone(),
        }
    }
}
