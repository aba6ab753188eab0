//! One item of the queue.

use crate::{
    object::{DecodeError, Object, ObjectKey, ResourceVersion},
    store::Replacement,
};

/// One change, as it was heard. What it does to the cache is decided by the cache: an `Added` of a known key is an update.
#[derive(Debug)]
#[non_exhaustive]
pub enum Delta<K> {
    /// The object was reported as new.
    Added(Object<K>),
    /// The object was reported as changed.
    Updated(Object<K>),
    /// The object left the selection, in this last state.
    Deleted(Object<K>),
    /// A version of the object cannot be decoded.
    Undecodable(DecodeError),
    /// The object left the selection, and its last state cannot be decoded.
    DeletedUndecodable(DecodeError),
    /// The whole state, in one item.
    ReplacedAll(Replacement<K>),
    /// Everything up to this version has been queued before.
    Bookmark(ResourceVersion),
}

/// The kind of a [`Delta`].
#[doc(alias = "DeltaType")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum DeltaKind {
    /// See [`Delta::Added`].
    Added,
    /// See [`Delta::Updated`].
    Updated,
    /// See [`Delta::Deleted`] and [`Delta::DeletedUndecodable`].
    Deleted,
    /// See [`Delta::Undecodable`].
    Undecodable,
    /// See [`Delta::ReplacedAll`].
    ReplacedAll,
    /// See [`Delta::Bookmark`].
    Bookmark,
}

// === impl Delta ===

impl<K> Delta<K> {
    /// What kind of change it is.
    pub fn kind(&self) -> DeltaKind {
        match self {
            Self::Added(_) => DeltaKind::Added,
            Self::Updated(_) => DeltaKind::Updated,
            Self::Deleted(_) | Self::DeletedUndecodable(_) => DeltaKind::Deleted,
            Self::Undecodable(_) => DeltaKind::Undecodable,
            Self::ReplacedAll(_) => DeltaKind::ReplacedAll,
            Self::Bookmark(_) => DeltaKind::Bookmark,
        }
    }

    /// The one key it is about; `None` for what is about the whole state.
    pub fn key(&self) -> Option<&ObjectKey> {
        match self {
            Self::Added(object) | Self::Updated(object) | Self::Deleted(object) => {
                Some(object.key())
            }
            Self::Undecodable(error) | Self::DeletedUndecodable(error) => Some(&error.key),
            Self::ReplacedAll(_) | Self::Bookmark(_) => None,
        }
    }
}
