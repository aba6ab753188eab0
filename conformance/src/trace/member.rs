//! Objects, as traces name them.

use std::{
    fmt::{self, Display, Formatter},
    sync::Arc,
};

/// An object's key as `namespace/name`, or its name alone if cluster-scoped.
pub type Key = Arc<str>;

/// One state of one object: uid and version.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::exhaustive_structs, reason = "complete by definition")]
pub struct State {
    /// The uid.
    pub uid: Arc<str>,
    /// The version.
    pub revision: u64,
}

/// An object in a cache, a list or an event.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::exhaustive_structs, reason = "complete by definition")]
pub struct Member {
    /// Its key.
    pub key: Key,
    /// Its state.
    pub state: State,
}

// === impl State ===

impl State {
    /// Creates the state of `uid` at `revision`.
    pub fn new(uid: impl Into<Arc<str>>, revision: u64) -> Self {
        Self {
            uid: uid.into(),
            revision,
        }
    }

    /// Reads a version from the wire. Text that is no number becomes 0, which is no version of any object, so that
    /// checkers report it.
    pub fn from_wire(uid: &str, resource_version: &str) -> Self {
        Self::new(uid, resource_version.parse().unwrap_or(0))
    }
}

impl Display for State {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.uid, self.revision)
    }
}

impl Display for Member {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.key, self.state)
    }
}
