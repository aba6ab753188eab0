//! The pure core of a replacement: the difference between what is held and the whole state.

use std::mem;

use super::apply::Change;
use crate::{
    handler::Notification,
    list_watch::ArrivedObject,
    object::{DecodeError, Object, ObjectKey, ResourceVersion, TombstoneReason},
    store::Replacement,
};

// === impl Change ===

impl<K> Change<'_, K> {
    /// Edits the snapshot in place, so that what did not change keeps its allocation.
    ///
    /// Notifications are the deletions first, then updates and adds in order of their keys; a reader sees the whole new state by
    /// then.
    pub(super) fn on_replacement(&mut self, replacement: Replacement<K>) {
        let Replacement {
            objects,
            undecodable,
            resource_version: version,
            is_authoritative,
        } = replacement;
        let arrived = objects.into_iter().map(Ok);
        // Decoded and refused objects together: a key that cannot be decoded is listed, and not gone.
        let state = by_key(arrived.chain(undecodable.into_iter().map(Err)));
        // Notifications from before stay in front, although a replacement comes alone.
        let mut notifications = mem::take(&mut self.applied.notifications);

        let added_min = state.len().saturating_sub(self.snapshot.len());
        self.applied.notifications.reserve_exact(added_min);
        // Before the new objects are put: what is compared with the state is only what was held until now.
        let mut deletions = self.remove_missing(&state, &version, is_authoritative);
        for item in state {
            let deletion = match item {
                Ok(object) => self.on_listed(object, &version, is_authoritative),
                Err(error) => self.on_listed_undecodable(error, &version, is_authoritative),
            };
            deletions.extend(deletion);
        }
        notifications.append(&mut deletions);
        // The changes of a first list are many, and stay where they are.
        if !notifications.is_empty() {
            notifications.append(&mut self.applied.notifications);
            self.applied.notifications = notifications;
        }

        // Last, since the objects above are compared with the deletions that were known before this state.
        if is_authoritative {
            self.snapshot.set_resource_version(version.clone());
            self.deletions.reset(version);
        } else {
            self.advance(&version);
            self.deletions.settle(&version);
        }
    }

    /// Takes out what the state does not have.
    fn remove_missing(
        &mut self,
        state: &[ArrivedObject<K>],
        version: &ResourceVersion,
        is_authoritative: bool,
    ) -> Vec<Notification<K>> {
        // What is newer than the state may have been made after it.
        let is_gone = |key: &ObjectKey, held: &ResourceVersion| {
            let is_listed = state.binary_search_by(|item| key_of(item).cmp(key)).is_ok();
            !is_listed && (is_authoritative || !version.is_before(held))
        };
        let objects = self.snapshot.iter();
        let gone: Vec<Object<K>> = objects
            .filter(|object| is_gone(object.key(), object.resource_version()))
            .cloned()
            .collect();
        let marks = self.snapshot.undecodable();
        let unmarked: Vec<ObjectKey> = marks
            .filter(|error| is_gone(&error.key, &error.resource_version))
            .map(|error| error.key.clone())
            .collect();
        for key in &unmarked {
            self.snapshot.remove(key);
        }
        gone.into_iter()
            .map(|object| {
                self.snapshot.remove(object.key());
                self.tombstone(object, TombstoneReason::MissedDelete)
            })
            .collect()
    }

    fn on_listed(
        &mut self,
        object: Object<K>,
        version: &ResourceVersion,
        is_authoritative: bool,
    ) -> Option<Notification<K>> {
        let old = self.snapshot.get(object.key()).cloned();
        let goes_back = match &old {
            Some(old) => object.resource_version().is_before(old.resource_version()),
            // A list that is older than what is settled says nothing of keys that are gone since.
            None => {
                self.is_before_deletion(object.key(), version)
                    || self.is_before_mark(object.key(), object.resource_version())
            }
        };
        if goes_back && !is_authoritative {
            self.applied.stale_count += 1;
            return None;
        }
        // A key that is not held has no version to go back from.
        if goes_back && old.is_some() {
            self.applied.gone_back_count += 1;
        }
        self.put(object, old)
    }

    fn on_listed_undecodable(
        &mut self,
        error: DecodeError,
        version: &ResourceVersion,
        is_authoritative: bool,
    ) -> Option<Notification<K>> {
        let is_stale = self.is_stale_mark(&error)
            || self.is_before_deletion(&error.key, version)
            || self.is_before_mark(&error.key, &error.resource_version);
        if is_stale && !is_authoritative {
            self.applied.stale_count += 1;
            return None;
        }
        self.mark(error)
    }
}

/// Sorts by key. Where a key comes twice, the later version counts, or else the later item.
fn by_key<K>(items: impl Iterator<Item = ArrivedObject<K>>) -> Vec<ArrivedObject<K>> {
    let mut state: Vec<_> = items.collect();
    if !state.is_sorted_by_key(key_of) {
        state = sorted(state);
    }
    state.dedup_by(|later, retained| {
        let is_same_key = key_of(later) == key_of(retained);
        if is_same_key && !version_of(later).is_before(version_of(retained)) {
            mem::swap(later, retained);
        }
        is_same_key
    });
    state
}

/// Sorts a state that did not come in order.
fn sorted<K>(state: Vec<ArrivedObject<K>>) -> Vec<ArrivedObject<K>> {
    let keys: Vec<ObjectKey> = state.iter().map(|item| key_of(item).clone()).collect();
    let mut state: Vec<_> = state.into_iter().map(Some).collect();
    let order = order_of(&keys).into_iter();
    let taken = order.filter_map(|at| state[at].take());
    taken.collect()
}

/// Returns the positions of keys in their order. Not generic, so that the sort is compiled once, and not for each type of objects.
fn order_of(keys: &[ObjectKey]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_by_key(|at| &keys[*at]);
    order
}

fn key_of<K>(item: &ArrivedObject<K>) -> &ObjectKey {
    match item {
        Ok(object) => object.key(),
        Err(error) => &error.key,
    }
}

fn version_of<K>(item: &ArrivedObject<K>) -> &ResourceVersion {
    match item {
        Ok(object) => object.resource_version(),
        Err(error) => &error.resource_version,
    }
}
