//! The connection of an informer, as it tells of it.

use std::fmt::{self, Display, Formatter};

/// The state of an informer's connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Link {
    /// It receives changes by a watch.
    Watching,
    /// It was paused by its owner.
    Paused,
    /// Anything else: it lists, connects, waits or has not started.
    Other,
}

// === impl Link ===

impl Display for Link {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Watching => "watching",
            Self::Paused => "paused",
            Self::Other => "not watching",
        })
    }
}
