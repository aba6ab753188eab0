//! The delayed items, by the time at which they are due.

use std::{collections::BTreeMap, time::Duration};

use tokio::time::Instant;

use super::priority::Priority;

/// The substitute for a time too far off to be expressed: some thirty years.
const FAR_AWAY: Duration = Duration::from_hours(24 * 365 * 30);

/// The delayed items. Of equal times, the item that was delayed first is due first.
#[derive(Debug)]
pub(super) struct WaitingItems<T> {
    items: BTreeMap<T, Entry>,
    by_due: BTreeMap<(Instant, u64), T>,
    next_turn: u64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) due: Instant,
    pub(super) priority: Priority,
    /// Tells entries of one time apart.
    turn: u64,
}

/// The time `delay` after `now`.
pub(super) fn due_at(now: Instant, delay: Duration) -> Instant {
    now.checked_add(delay).unwrap_or_else(|| now + FAR_AWAY)
}

// === impl WaitingItems ===

impl<T: Ord + Clone> WaitingItems<T> {
    pub(super) fn new() -> Self {
        Self {
            items: BTreeMap::new(),
            by_due: BTreeMap::new(),
            next_turn: 0,
        }
    }

    /// Delays `item`. If it is delayed already, the earlier time and the higher priority hold.
    pub(super) fn insert(&mut self, item: T, due: Instant, priority: Priority) {
        if let Some(entry) = self.items.get_mut(&item) {
            entry.priority = entry.priority.max(priority);
            // An earlier time holds, as in client-go: a longer delay must not put off what is due before.
            if due >= entry.due {
                return;
            }
            self.by_due.remove(&(entry.due, entry.turn));
            entry.due = due;
            self.by_due.insert((due, entry.turn), item);
            return;
        }
        let turn = self.next_turn;
        self.next_turn += 1;
        self.by_due.insert((due, turn), item.clone());
        self.items.insert(
            item,
            Entry {
                due,
                priority,
                turn,
            },
        );
    }

    pub(super) fn remove(&mut self, item: &T) -> Option<Entry> {
        let entry = self.items.remove(item)?;
        self.by_due.remove(&(entry.due, entry.turn));
        Some(entry)
    }

    /// Takes out the item that is due first, if that is not after `now`.
    pub(super) fn pop_due(&mut self, now: Instant) -> Option<(T, Entry)> {
        if self.next_due()? > now {
            return None;
        }
        let (_, item) = self.by_due.pop_first()?;
        self.items.remove_entry(&item)
    }

    pub(super) fn clear(&mut self) {
        self.items.clear();
        self.by_due.clear();
    }

    pub(super) fn next_due(&self) -> Option<Instant> {
        let ((due, _), _) = self.by_due.first_key_value()?;
        Some(*due)
    }

    pub(super) fn due(&self, item: &T) -> Option<Instant> {
        Some(self.items.get(item)?.due)
    }

    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    /// The items in the order in which they are due.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&T, Instant)> {
        self.by_due.iter().map(|((due, _), item)| (item, *due))
    }
}
