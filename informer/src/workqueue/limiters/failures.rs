//! Bounded counts of each item's failures.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use tokio::time::Instant;

/// The least time for which a failure is remembered.
const MEMORY_MIN: Duration = Duration::from_mins(10);

/// Failures by item. An item that has not failed for `memory` is forgotten, so that the map holds only items that
/// failed within that time, even if a caller never forgets them.
#[derive(Clone, Debug)]
pub(super) struct Failures<T> {
    items: BTreeMap<T, Failure>,
    /// The items by the time of their last failure.
    by_age: BTreeSet<(Instant, T)>,
    memory: Duration,
}

#[derive(Clone, Copy, Debug)]
struct Failure {
    count: u32,
    last: Instant,
}

// === impl Failures ===

impl<T: Ord + Clone> Failures<T> {
    /// Nothing has failed. With delays of up to `delay_max` an item is remembered for three times as long, at least ten
    /// minutes: an item that fails each time it is tried is never forgotten between two tries, even if a try takes twice
    /// as long as the delay before it.
    pub(super) fn new(delay_max: Duration) -> Self {
        Self {
            items: BTreeMap::new(),
            by_age: BTreeSet::new(),
            memory: delay_max.saturating_mul(3).max(MEMORY_MIN),
        }
    }

    pub(super) fn set_memory(&mut self, memory: Duration) {
        self.memory = memory;
    }

    /// Counts a failure, and gives how many there were before it.
    pub(super) fn count(&mut self, item: &T, now: Instant) -> u32 {
        self.evict(now);
        let previous = self.items.get(item).copied();
        let before = previous.map_or(0, |failure| failure.count);
        if let Some(previous) = previous {
            self.by_age.remove(&(previous.last, item.clone()));
        }
        let failure = Failure {
            count: before.saturating_add(1),
            last: now,
        };
        self.items.insert(item.clone(), failure);
        self.by_age.insert((now, item.clone()));
        before
    }

    pub(super) fn forget(&mut self, item: &T) {
        if let Some((item, failure)) = self.items.remove_entry(item) {
            self.by_age.remove(&(failure.last, item));
        }
    }

    pub(super) fn get(&self, item: &T, now: Instant) -> u32 {
        let remembered = self
            .items
            .get(item)
            .filter(|failure| !self.is_forgotten(failure.last, now));
        remembered.map_or(0, |failure| failure.count)
    }

    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    fn evict(&mut self, now: Instant) {
        while let Some((last, _)) = self.by_age.first()
            && self.is_forgotten(*last, now)
            && let Some((_, item)) = self.by_age.pop_first()
        {
            self.items.remove(&item);
        }
    }

    fn is_forgotten(&self, last: Instant, now: Instant) -> bool {
        now.saturating_duration_since(last) > self.memory
    }
}
