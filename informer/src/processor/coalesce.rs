//! The pure core of coalescing: at most two notifications a key, with the same outcome as all of them.

use std::collections::BTreeMap;

use crate::{handler::Notification, object::ObjectKey};

/// The changes beyond a limit, merged by key, in the order of each key's first change.
pub(super) struct Coalesced<K> {
    /// By the number of their arrival.
    entries: BTreeMap<u64, Notification<K>>,
    last: BTreeMap<ObjectKey, Place>,
    arrivals: u64,
}

/// The place of a key's last notification.
#[derive(Clone, Copy)]
struct Place {
    at: u64,
    /// The deletion of the same key that waits before it.
    deletion: Option<u64>,
}

// === impl Coalesced ===

impl<K> Coalesced<K> {
    pub(super) fn new() -> Self {
        Self {
            entries: BTreeMap::new(),
            last: BTreeMap::new(),
            arrivals: 0,
        }
    }

    /// Adds what happened after everything that waits here.
    pub(super) fn push(&mut self, notification: Notification<K>) {
        use Notification::{Add, Delete, Update};

        let Some(place) = self.last.get(notification.key()).copied() else {
            return self.append(notification, None);
        };
        let last = self
            .entries
            .get_mut(&place.at)
            .expect("a place is that of an entry");
        match (last, notification) {
            // The add was never delivered, so that there is nothing to update. It stays initial if it was.
            (Add { object, .. }, Update { new, .. }) => *object = new,
            (Add { .. }, Delete { deleted, .. }) => self.cancel(deleted.key(), place),
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
            (Delete { .. }, notification) => self.append(notification, Some(place.at)),
            // A cache never sends this; delivery in order is correct in any case.
            (Add { .. } | Update { .. }, add @ Add { .. }) => self.append(add, place.deletion),
        }
    }

    /// Takes the first.
    pub(super) fn pop(&mut self) -> Option<Notification<K>> {
        let (at, notification) = self.entries.pop_first()?;
        if let Some(place) = self.last.get_mut(notification.key()) {
            if place.at == at {
                self.last.remove(notification.key());
            } else if place.deletion == Some(at) {
                place.deletion = None;
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
        let place = Place { at, deletion };
        self.last.insert(notification.key().clone(), place);
        self.entries.insert(at, notification);
    }

    /// Takes back an add that was never delivered; a deletion before it still holds.
    fn cancel(&mut self, key: &ObjectKey, place: Place) {
        self.entries.remove(&place.at);
        match place.deletion {
            Some(at) => {
                let deletion = None;
                self.last.insert(key.clone(), Place { at, deletion });
            }
            None => {
                self.last.remove(key);
            }
        }
    }
}
