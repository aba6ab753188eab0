//! The pure core of coalescing: at most two notifications a key, with the same outcome as all of them.

use std::collections::BTreeMap;

use crate::{handler::Notification, object::ObjectKey, slab_map::SlabMap};

/// The changes beyond a limit, merged by key, in the order of each key's first change.
pub(super) struct CoalescedChanges<K> {
    /// By the number of their arrival.
    entries: SlabMap<u64, Notification<K>>,
    last: BTreeMap<ObjectKey, Slot>,
    arrivals: u64,
}

/// The place of a key's last notification.
#[derive(Clone, Copy)]
struct Slot {
    at: u64,
    /// The deletion of the same key that waits before it.
    deletion: Option<u64>,
}

// === impl CoalescedChanges ===

impl<K> CoalescedChanges<K> {
    pub(super) fn new() -> Self {
        Self {
            entries: SlabMap::new(),
            last: BTreeMap::new(),
            arrivals: 0,
        }
    }

    /// Adds what happened after everything that waits here.
    pub(super) fn push(&mut self, notification: Notification<K>) {
        use Notification::{Add, Delete, Update};

        let Some(slot) = self.last.get(notification.key()).copied() else {
            return self.append(notification, None);
        };
        let last = self
            .entries
            .get_mut(&slot.at)
            .expect("a place is that of an entry");
        match (last, notification) {
            // The add was never delivered, so that there is nothing to update. It stays initial if it was.
            (Add { object, .. }, Update { new, .. }) => *object = new,
            (Add { .. }, Delete { deleted, .. }) => self.cancel(deleted.key(), slot),
            (
                Update {
                    new: last, cause, ..
                },
                Update {
                    new, cause: latest, ..
                },
            ) => {
                *last = new;
                *cause = latest;
            }
            (last @ Update { .. }, deletion @ Delete { .. }) => *last = deletion,
            // A deletion and an addition stay two: the object that comes may be another one.
            (Delete { .. }, notification) => self.append(notification, Some(slot.at)),
            // A cache never sends this; delivery in order is correct in any case.
            (Add { .. } | Update { .. }, add @ Add { .. }) => self.append(add, slot.deletion),
        }
    }

    /// Takes the first.
    pub(super) fn pop(&mut self) -> Option<Notification<K>> {
        let (at, notification) = self.entries.pop_first()?;
        if let Some(slot) = self.last.get_mut(notification.key()) {
            if slot.at == at {
                self.last.remove(notification.key());
            } else if slot.deletion == Some(at) {
                slot.deletion = None;
            }
        }
        Some(notification)
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    fn append(&mut self, notification: Notification<K>, deletion: Option<u64>) {
        let at = self.arrivals;
        self.arrivals += 1;
        let slot = Slot { at, deletion };
        self.last.insert(notification.key().clone(), slot);
        self.entries.insert(at, notification);
    }

    /// Takes back an add that was never delivered; a deletion before it still holds.
    fn cancel(&mut self, key: &ObjectKey, slot: Slot) {
        self.entries.remove(&slot.at);
        // The deletion before the cancelled addition is the key's last notification again.
        match slot.deletion {
            Some(at) => {
                let deletion = None;
                self.last.insert(key.clone(), Slot { at, deletion });
            }
            None => {
                self.last.remove(key);
            }
        }
    }
}
