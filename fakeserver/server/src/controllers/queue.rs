//! The keys that a controller is to reconcile, each with its due time.

use std::{collections::BTreeMap, time::Duration};

use tokio::time::Instant;

use crate::store::ObjectKey;

/// A key, and the number of the controller that is to look at it.
pub(super) type Item = (usize, ObjectKey);

/// The keys to reconcile, earliest first; those due at the same time in the order in which they were added.
///
/// # Memory
///
/// A key is in it once for each controller, so that it cannot hold more than there are objects.
#[derive(Debug, Default)]
pub(super) struct Queue {
    due: BTreeMap<(Instant, u64), Item>,
    places: BTreeMap<Item, (Instant, u64)>,
    next: u64,
}

/// Adds to the keys of one controller.
#[derive(Debug)]
pub struct KeyQueue<'a> {
    queue: &'a mut Queue,
    controller: usize,
    now: Instant,
}

// === impl Queue ===

impl Queue {
    /// Makes `item` due at `at`, or leaves it due earlier.
    pub(super) fn add(&mut self, item: Item, at: Instant) {
        if let Some(place) = self.places.get(&item) {
            if place.0 <= at {
                return;
            }
            self.due.remove(place);
        }
        let place = (at, self.next);
        self.next += 1;
        self.due.insert(place, item.clone());
        self.places.insert(item, place);
    }

    /// Takes the first item that is due at `now`.
    pub(super) fn pop(&mut self, now: Instant) -> Option<Item> {
        let first = self.due.first_entry()?;
        if first.key().0 > now {
            return None;
        }
        let item = first.remove();
        self.places.remove(&item);
        Some(item)
    }

    /// Returns the time at which the first item is due.
    pub(super) fn next_due(&self) -> Option<Instant> {
        self.due.first_key_value().map(|((at, _), _)| *at)
    }
}

// === impl KeyQueue ===

impl<'a> KeyQueue<'a> {
    pub(super) fn new(queue: &'a mut Queue, controller: usize, now: Instant) -> Self {
        Self {
            queue,
            controller,
            now,
        }
    }

    /// Makes `key` due in a while, or leaves it due earlier.
    pub fn add(&mut self, key: ObjectKey, after: Duration) {
        self.queue.add((self.controller, key), self.now + after);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(name: &str) -> Item {
        (
            0,
            ObjectKey::cluster(fakeserver_kinds::core::node::KIND.storage().clone(), name),
        )
    }

    #[tokio::test(start_paused = true)]
    async fn keys_are_due_once_and_at_the_earliest_time_they_were_added_for() {
        let start = Instant::now();
        let at = |millis| start + Duration::from_millis(millis);
        let mut queue = Queue::default();
        queue.add(item("late"), at(30));
        queue.add(item("a"), at(20));
        queue.add(item("b"), at(20));
        queue.add(item("a"), at(40));
        queue.add(item("late"), at(10));
        assert_eq!(queue.next_due(), Some(at(10)));
        assert_eq!(queue.pop(at(9)), None);
        assert_eq!(queue.pop(at(25)), Some(item("late")));
        assert_eq!(queue.pop(at(25)), Some(item("a")));
        assert_eq!(queue.pop(at(25)), Some(item("b")));
        assert_eq!(queue.pop(at(100)), None, "nothing is in it twice");
        assert_eq!(queue.next_due(), None);
    }
}
