//! The pure core: the versions since which absent keys are known to be absent.

use std::collections::BTreeMap;

use crate::object::{ObjectKey, ResourceVersion};

/// The most deletions that are remembered one by one.
const DELETED_MAX: usize = 1_024;

/// The versions at which keys that are not held went away, so that a late event of one does not bring it back.
#[derive(Debug, Default)]
pub(super) struct DeletionLog {
    /// The version of the last list or bookmark, by which the server had sent all changes up to it: an object that is not held was absent
    /// then.
    settled: ResourceVersion,
    /// Deletions after that.
    deleted: BTreeMap<ObjectKey, ResourceVersion>,
}

// === impl DeletionLog ===

impl DeletionLog {
    /// Notes that the key was deleted at `version`.
    pub(super) fn note_deleted(&mut self, key: ObjectKey, version: &ResourceVersion) {
        if self.deleted.len() == DELETED_MAX {
            // Events come in order, so that all before this one have been received. It is less certain than a bookmark
            // (an event out of order would now be taken for an old one), but some servers send none.
            self.settle(version);
            self.deleted.clear();
        }
        self.deleted.insert(key, version.clone());
    }

    /// Notes that everything up to `version` has been received.
    pub(super) fn settle(&mut self, version: &ResourceVersion) {
        if version.is_unknown() || version.is_before(&self.settled) {
            return;
        }
        self.settled = version.clone();
        self.deleted.retain(|_, deleted| version.is_before(deleted));
    }

    /// Resets the log to `version`, the version of an authoritative whole state, which may be below earlier ones.
    pub(super) fn reset(&mut self, version: ResourceVersion) {
        self.settled = version;
        self.deleted.clear();
    }

    /// Returns true if `key`, which is not held, is known to be absent since a later version than `version`.
    pub(super) fn is_after(&self, key: &ObjectKey, version: &ResourceVersion) -> bool {
        let deleted = self.deleted.get(key);
        version.is_before(&self.settled)
            || deleted.is_some_and(|deleted| version.is_before(deleted))
    }
}
