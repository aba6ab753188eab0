//! The changes of the server's log.

use std::sync::Arc;

use super::Key;
use crate::plan::Resource;

/// A change of the server's log.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "tests write them by hand")]
pub struct Change {
    /// The resource.
    pub resource: Resource,
    /// Its revision.
    pub revision: u64,
    /// The object's key.
    pub key: Key,
    /// The namespace; empty if cluster-scoped.
    pub namespace: Arc<str>,
    /// The object before; `None` if there was none.
    pub before: Option<Side>,
    /// The object after; `None` if there is none.
    pub after: Option<Side>,
}

/// An object on one side of a change, as far as selections depend on it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "complete by definition")]
pub struct Side {
    /// Its uid.
    pub uid: Arc<str>,
    /// The value of its [`LABEL`](crate::plan::LABEL).
    pub label: Option<Arc<str>>,
    /// True if it has the label [`SPOILED`](crate::plan::SPOILED).
    pub is_spoiled: bool,
}
