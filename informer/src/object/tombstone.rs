//! Deletions, as notifications carry them.

use super::{Object, ObjectKey};

/// An object that is known to be gone although its deletion was not seen.
#[doc(alias = "DeletedFinalStateUnknown")]
#[derive(Debug)]
pub struct Tombstone<K> {
    /// The key that is gone.
    pub key: ObjectKey,
    /// The last state that was known here; the object may have changed since, before it went.
    pub last_known: Option<Object<K>>,
    /// The way in which the absence was noticed.
    pub reason: TombstoneReason,
}

/// The way in which the absence of an object was noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TombstoneReason {
    /// A relist no longer has it.
    MissedDelete,
    /// The key now belongs to another object: deleted and recreated while no watch was open.
    UidChanged,
    /// Its newest version cannot be decoded, so that the copy held here was out of date.
    Undecodable,
}

/// The argument of `on_delete`: the deleted object, or a tombstone where the deletion itself was missed.
#[doc(alias = "DeletedObject")]
#[derive(Debug)]
pub enum Deleted<K> {
    /// The deletion was seen: the last state, with the version of the deletion.
    Object(Object<K>),
    /// The deletion was missed.
    Tombstone(Tombstone<K>),
}

// === impl Tombstone ===

impl<K> Clone for Tombstone<K> {
    fn clone(&self) -> Self {
        Self {
            key: self.key.clone(),
            last_known: self.last_known.clone(),
            reason: self.reason,
        }
    }
}

// === impl Deleted ===

impl<K> Deleted<K> {
    /// The key that is gone.
    pub fn key(&self) -> &ObjectKey {
        match self {
            Self::Object(object) => object.key(),
            Self::Tombstone(tombstone) => &tombstone.key,
        }
    }

    /// The last state that is known, if any.
    pub fn last_known(&self) -> Option<&Object<K>> {
        match self {
            Self::Object(object) => Some(object),
            Self::Tombstone(tombstone) => tombstone.last_known.as_ref(),
        }
    }

    /// Returns whether the deletion itself was missed.
    pub fn is_tombstone(&self) -> bool {
        matches!(self, Self::Tombstone(_))
    }
}

impl<K> Clone for Deleted<K> {
    fn clone(&self) -> Self {
        match self {
            Self::Object(object) => Self::Object(object.clone()),
            Self::Tombstone(tombstone) => Self::Tombstone(tombstone.clone()),
        }
    }
}
