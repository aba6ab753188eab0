//! The pure core of sharing: the decoded objects that readers hold, and the few that are kept for the next reader.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Weak},
};

/// The least number of entries at which those of dropped objects are looked for.
const SWEEP_MIN: usize = 64;

/// Names one form of one version of one object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LiveKey {
    pub(super) object: u64,
    pub(super) is_changed: bool,
}

/// The decoded objects that readers hold.
///
/// # Memory
///
/// One entry for each held object, and up to as many again for objects that were dropped.
pub(super) struct Live<K> {
    held: BTreeMap<LiveKey, Weak<K>>,
    sweep_at: usize,
    /// Oldest first.
    hot: VecDeque<Arc<K>>,
    hot_max: usize,
}

// === impl Live ===

impl<K> Live<K> {
    pub(super) fn new(hot_max: usize) -> Self {
        Self {
            held: BTreeMap::new(),
            sweep_at: SWEEP_MIN,
            hot: VecDeque::new(),
            hot_max,
        }
    }

    pub(super) fn get(&self, key: LiveKey) -> Option<Arc<K>> {
        self.held.get(&key)?.upgrade()
    }

    /// Takes a decoded object, and returns the one to use, which is another if a concurrent reader was faster. The
    /// second object returned is no longer kept: dropping a large object takes a while, and is done without the lock.
    pub(super) fn put(&mut self, key: LiveKey, value: Arc<K>) -> (Arc<K>, Option<Arc<K>>) {
        if let Some(other) = self.get(key) {
            return (other, Some(value));
        }
        self.held.insert(key, Arc::downgrade(&value));
        if self.held.len() > self.sweep_at {
            self.held.retain(|_, value| value.strong_count() > 0);
            self.sweep_at = SWEEP_MIN.max(self.held.len() * 2);
        }
        self.hot.push_back(Arc::clone(&value));
        let dropped = if self.hot.len() > self.hot_max {
            self.hot.pop_front()
        } else {
            None
        };
        (value, dropped)
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.held.len()
    }
}
