//! Errors of indices and their use.

use std::sync::Arc;

use crate::object::ObjectKey;

/// An index was asked for, added or removed under a wrong name. Trying again is useless.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IndexerError {
    /// There is no such index.
    #[error("no index is named {name:?}")]
    UnknownIndex {
        /// The name that was asked for.
        name: String,
    },
    /// There is one already; nothing was changed.
    #[error("an index is already named {name:?}")]
    DuplicateIndex {
        /// The name that is taken.
        name: String,
    },
    /// The index is a part of every indexer and cannot be removed.
    #[error("the index {name:?} cannot be removed")]
    PermanentIndex {
        /// The name.
        name: String,
    },
}

/// An index does not say what its function says of the objects: the function is not a function of the object alone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RecountError {
    /// An object is not where its function puts it.
    #[error("index {index:?} lacks {key} under {value:?}")]
    Missing {
        /// The index.
        index: Arc<str>,
        /// The value it should be found under.
        value: Arc<str>,
        /// The object.
        key: ObjectKey,
    },
    /// An object, or one that is gone, is where its function does not put it.
    #[error("index {index:?} has {key} under {value:?}")]
    Surplus {
        /// The index.
        index: Arc<str>,
        /// The value it should not be found under.
        value: Arc<str>,
        /// The object.
        key: ObjectKey,
    },
    /// The objects for which the function failed are not those that are marked.
    #[error("index {index:?} marks the wrong objects as not indexed")]
    Unindexed {
        /// The index.
        index: Arc<str>,
    },
    /// An object lies under another key than its own.
    #[error("{key} lies under another key")]
    Misplaced {
        /// The object's own key.
        key: ObjectKey,
    },
}
