//! One index: the objects in order of value and key.

use std::{cmp::Ordering, sync::Arc};

use imbl::{OrdMap, OrdSet};

use super::{
    IndexFn, RecountError,
    query::{ValueEnd, ValueStart},
};
use crate::object::{Object, ObjectKey};

/// An object is found under a value. There is one of them for each value and key.
#[derive(Debug)]
pub(super) struct Entry<K> {
    pub(super) value: Arc<str>,
    /// The handle itself: a lookup need not search for it by its key.
    object: Object<K>,
}

#[derive(Debug)]
pub(super) struct Index<K> {
    function: IndexFn<K>,
    entries: OrdSet<Entry<K>>,
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
        for value in &before {
            if after.binary_search(value).is_err()
                && let Some(old) = old
            {
                self.remove(value, old);
            }
        }
        for value in after {
            if let Some(new) = new {
                // In place of the old version, where that was found under the same value.
                self.insert(value, new);
            }
        }
        if let Err(reason) = &outcome {
            self.unindexed.insert(key.clone(), Arc::clone(reason));
        }
        outcome
    }

    pub(super) fn objects<'a>(&'a self, value: &'a str) -> impl Iterator<Item = &'a Object<K>> {
        self.entries
            .range(ValueStart(value)..)
            .take_while(move |entry| *entry.value == *value)
            .map(|entry| &entry.object)
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
        let missing = expected.entries.iter().find(|e| !self.shows(e));
        if let Some(Entry { value, object }) = missing.cloned() {
            let (index, key) = (index(), object.key().clone());
            return Err(RecountError::Missing { index, value, key });
        }
        let surplus = self.entries.iter().find(|e| !expected.shows(e));
        if let Some(Entry { value, object }) = surplus.cloned() {
            let (index, key) = (index(), object.key().clone());
            return Err(RecountError::Surplus { index, value, key });
        }
        if !self.unindexed.keys().eq(expected.unindexed.keys()) {
            return Err(RecountError::Unindexed { index: index() });
        }
        Ok(())
    }

    /// Returns whether it has the very handle of `entry` under its value.
    fn shows(&self, entry: &Entry<K>) -> bool {
        let own = self.entries.get(entry);
        own.is_some_and(|own| own.object.is_same(&entry.object))
    }

    fn insert(&mut self, value: Arc<str>, object: &Object<K>) {
        // All entries of one value share its text.
        let shared = self.entries.range(ValueStart(&value)..).next();
        let value = match shared {
            Some(entry) if entry.value == value => Arc::clone(&entry.value),
            _ => value,
        };
        let object = object.clone();
        self.entries.insert(Entry { value, object });
    }

    fn remove(&mut self, value: &Arc<str>, object: &Object<K>) {
        let (value, object) = (Arc::clone(value), object.clone());
        self.entries.remove(&Entry { value, object });
    }
}

// === impl Entry ===

impl<K> Ord for Entry<K> {
    fn cmp(&self, other: &Self) -> Ordering {
        let by_value = self.value.cmp(&other.value);
        by_value.then_with(|| self.object.key().cmp(other.object.key()))
    }
}

impl<K> PartialOrd for Entry<K> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<K> PartialEq for Entry<K> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<K> Eq for Entry<K> {}

impl<K> Clone for Entry<K> {
    fn clone(&self) -> Self {
        Self {
            value: Arc::clone(&self.value),
            object: self.object.clone(),
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{Value, object};

    #[test]
    fn entries_are_in_the_order_of_values_and_then_of_keys() {
        let entry = |value: &str, name: &str| Entry::<Value> {
            value: value.into(),
            object: object(name),
        };
        let entries = [entry("a", "a/x"), entry("a", "a/y"), entry("b", "a/x")];
        for (place, one) in entries.iter().enumerate() {
            for (other_place, other) in entries.iter().enumerate() {
                let order = place.cmp(&other_place);
                assert_eq!(one.partial_cmp(other), Some(order));
                assert_eq!(one == other, order.is_eq());
            }
        }
    }
}
