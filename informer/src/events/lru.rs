//! A map that forgets the entry that was not used for longest.

use std::collections::BTreeMap;

/// A map of at most `capacity` entries.
#[derive(Debug)]
pub(super) struct Lru<K, V> {
    capacity: usize,
    entries: BTreeMap<K, Entry<V>>,
    /// The keys by their last use.
    by_use: BTreeMap<u64, K>,
    use_count: u64,
}

#[derive(Debug)]
struct Entry<V> {
    last_use: u64,
    value: V,
}

// === impl Lru ===

impl<K: Clone + Ord, V> Lru<K, V> {
    /// An empty map. Less than one entry counts as one.
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            capacity: capacity.max(1),
            entries: BTreeMap::new(),
            by_use: BTreeMap::new(),
            use_count: 0,
        }
    }

    /// Returns the value of `key`, which is made if there is none, and counts as used now.
    pub(super) fn get_or_insert_with(&mut self, key: &K, make: impl FnOnce() -> V) -> &mut V {
        self.use_count += 1;
        let last_use = self.use_count;
        if let Some(entry) = self.entries.get(key) {
            self.by_use.remove(&entry.last_use);
        } else if self.entries.len() >= self.capacity
            && let Some((_, oldest)) = self.by_use.pop_first()
        {
            self.entries.remove(&oldest);
        }
        self.by_use.insert(last_use, key.clone());
        let entry = self.entries.entry(key.clone()).or_insert_with(|| Entry {
            last_use,
            value: make(),
        });
        entry.last_use = last_use;
        &mut entry.value
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        assert_eq!(self.entries.len(), self.by_use.len());
        self.entries.len()
    }
}
