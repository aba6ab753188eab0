//! The pure core: applies a batch to a snapshot, and computes the notifications for handlers.
//!
//! A version that is known to be older than what is held, or than a state in which the key is known to be absent,
//! changes nothing: neither a replayed event nor a list from a server that lags takes a key back in time. Versions that
//! cannot be compared are accepted.

use super::deletion_log::DeletionLog;
use crate::{
    delta_fifo::Batch,
    handler::{Notification, NotificationCause},
    indexer::Snapshot,
    object::{
        DecodeError, Deleted, Object, ObjectKey, ResourceVersion, Tombstone, TombstoneReason,
    },
    store::Delta,
};

/// The outcome of a batch.
#[derive(Debug)]
pub(super) struct ApplyOutcome<K> {
    /// The notifications of handlers, in this order; of a replacement, deletions come first.
    pub(super) notifications: Vec<Notification<K>>,
    /// Versions that were older than what is known, and changed nothing.
    pub(super) stale_count: u64,
    /// Objects that went back to an older version, on the server's authority.
    pub(super) gone_back_count: u64,
}

/// One batch on its way into a snapshot.
pub(super) struct Change<'a, K> {
    pub(super) snapshot: &'a mut Snapshot<K>,
    pub(super) deletions: &'a mut DeletionLog,
    /// The cause of the notifications.
    pub(super) cause: NotificationCause,
    pub(super) applied: ApplyOutcome<K>,
}

/// Edits `snapshot` to show what `batch` says.
pub(super) fn apply<K>(
    snapshot: &mut Snapshot<K>,
    deletions: &mut DeletionLog,
    batch: Batch<K>,
) -> ApplyOutcome<K> {
    let applied = ApplyOutcome {
        notifications: Vec::with_capacity(batch.deltas.len()),
        stale_count: 0,
        gone_back_count: 0,
    };
    let mut change = Change {
        snapshot,
        deletions,
        cause: NotificationCause::Live,
        applied,
    };
    for delta in batch.deltas {
        // The first state is initial even if it comes as a replacement.
        change.cause = match &delta {
            _ if batch.is_initial => NotificationCause::Initial,
            Delta::ReplacedAll(_) => NotificationCause::Relist,
            _ => NotificationCause::Live,
        };
        match delta {
            Delta::Upserted(object) => change.on_upserted(object),
            Delta::Deleted(object) => change.on_deleted(object),
            Delta::Undecodable(error) => change.on_undecodable(error),
            Delta::DeletedUndecodable(error) => change.on_deleted_undecodable(error),
            Delta::ReplacedAll(replacement) => change.on_replacement(replacement),
            Delta::Bookmark(version) => change.on_bookmark(&version),
        }
    }
    change.applied
}

// === impl Change ===

impl<K> Change<'_, K> {
    fn on_upserted(&mut self, object: Object<K>) {
        let old = self.snapshot.get(object.key()).cloned();
        let version = object.resource_version().clone();
        let is_stale = match &old {
            Some(old) => version.is_before(old.resource_version()),
            // A late event of an object that is gone must not bring it back.
            None => self.is_before_deletion(object.key(), &version),
        };
        if is_stale {
            self.applied.stale_count += 1;
            return;
        }
        if let Some(deleted) = self.put(object, old) {
            // The add that follows is the last notification: the deletion belongs before it.
            let at = self.applied.notifications.len() - 1;
            self.applied.notifications.insert(at, deleted);
        }
        self.advance(&version);
    }

    fn on_deleted(&mut self, object: Object<K>) {
        let (key, version) = (object.key().clone(), object.resource_version().clone());
        if self.is_stale_deletion(&key, &version) {
            self.applied.stale_count += 1;
            return;
        }
        // Handlers have never heard of a key that is not held.
        if let Some(old) = self.snapshot.remove(&key) {
            let deleted = if old.metadata().is_other_than(object.metadata()) {
                self.tombstone(old, TombstoneReason::UidChanged)
            } else {
                Notification::Delete {
                    deleted: Deleted::Object(object),
                    cause: self.cause,
                }
            };
            self.applied.notifications.push(deleted);
        }
        // Noted even if nothing was held: the object's own addition may come after it, from a server that lags.
        self.deletions.note_deleted(key, &version);
        self.advance(&version);
    }

    fn on_undecodable(&mut self, error: DecodeError) {
        let version = error.resource_version.clone();
        if self.is_stale_mark(&error) || self.is_before_deletion(&error.key, &version) {
            self.applied.stale_count += 1;
            return;
        }
        if let Some(deleted) = self.mark(error) {
            self.applied.notifications.push(deleted);
        }
        self.advance(&version);
    }

    fn on_deleted_undecodable(&mut self, error: DecodeError) {
        let (key, version) = (error.key, error.resource_version);
        if self.is_stale_deletion(&key, &version) {
            self.applied.stale_count += 1;
            return;
        }
        if let Some(old) = self.snapshot.remove(&key) {
            let deleted = self.tombstone(old, TombstoneReason::Undecodable);
            self.applied.notifications.push(deleted);
        }
        self.deletions.note_deleted(key, &version);
        self.advance(&version);
    }

    fn on_bookmark(&mut self, version: &ResourceVersion) {
        self.advance(version);
        self.deletions.settle(version);
    }

    /// Puts `object` in the place of `old`; returns the deletion to deliver first, if there is one.
    ///
    /// The same version of the same object changes nothing: the handle that is held stays.
    pub(super) fn put(
        &mut self,
        object: Object<K>,
        old: Option<Object<K>>,
    ) -> Option<Notification<K>> {
        let (notification, deleted) = match old {
            None => (self.add(object.clone()), None),
            Some(old) if old.metadata().is_other_than(object.metadata()) => {
                let deleted = self.tombstone(old, TombstoneReason::UidChanged);
                (self.add(object.clone()), Some(deleted))
            }
            // After the uids are compared: an equal version of another object is a change.
            Some(old) if is_same_version(&old, &object) => return None,
            Some(old) => {
                let update = Notification::Update {
                    old,
                    new: object.clone(),
                    cause: self.cause,
                };
                (update, None)
            }
        };
        self.snapshot.insert(object);
        self.applied.notifications.push(notification);
        deleted
    }

    /// Remembers that a key's newest version cannot be decoded; returns the notification for it.
    pub(super) fn mark(&mut self, error: DecodeError) -> Option<Notification<K>> {
        let old = self.snapshot.mark_undecodable(error)?;
        Some(self.tombstone(old, TombstoneReason::Undecodable))
    }

    /// Returns true if the version that was refused is not newer than the object that is held.
    pub(super) fn is_stale_mark(&self, error: &DecodeError) -> bool {
        let version = &error.resource_version;
        self.snapshot.get(&error.key).is_some_and(|held| {
            let held = held.resource_version();
            version.is_before(held) || (version == held && !version.is_unknown())
        })
    }

    /// Returns true if a version is older than one at which its key, which is not held, is known to be gone or refused.
    pub(super) fn is_before_deletion(&self, key: &ObjectKey, version: &ResourceVersion) -> bool {
        self.snapshot.get(key).is_none()
            && (self.deletions.is_after(key, version) || self.is_before_mark(key, version))
    }

    /// Returns true if a version is older than one of its key that was refused.
    pub(super) fn is_before_mark(&self, key: &ObjectKey, version: &ResourceVersion) -> bool {
        let mark = self.snapshot.get_undecodable(key);
        mark.is_some_and(|mark| version.is_before(&mark.resource_version))
    }

    /// Returns true if a deletion is older than the object that is held, which was recreated since.
    fn is_stale_deletion(&self, key: &ObjectKey, version: &ResourceVersion) -> bool {
        let held = self.snapshot.get(key);
        held.is_some_and(|held| version.is_before(held.resource_version()))
            || self.is_before_deletion(key, version)
    }

    pub(super) fn advance(&mut self, version: &ResourceVersion) {
        if !version.is_unknown() && !version.is_before(self.snapshot.resource_version()) {
            self.snapshot.set_resource_version(version.clone());
        }
    }

    fn add(&self, object: Object<K>) -> Notification<K> {
        Notification::Add {
            object,
            cause: self.cause,
        }
    }

    /// The deletion of `old`, which was not seen as such.
    pub(super) fn tombstone(&self, old: Object<K>, reason: TombstoneReason) -> Notification<K> {
        Notification::Delete {
            deleted: Deleted::Tombstone(Tombstone {
                key: old.key().clone(),
                last_known: Some(old),
                reason,
            }),
            cause: self.cause,
        }
    }
}

fn is_same_version<K>(a: &Object<K>, b: &Object<K>) -> bool {
    a.resource_version() == b.resource_version() && !a.resource_version().is_unknown()
}
