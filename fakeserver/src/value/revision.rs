//! The store's clock: one integer for all resources, one step for each write.

use std::fmt;

/// A point in the history of the store. Printed, it is a `resourceVersion`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub(crate) struct Revision(u64);

// === impl Revision ===

impl Revision {
    /// An empty store stands at 1, as etcd does; the first write makes 2.
    pub(crate) const FIRST: Self = Self(1);

    pub(crate) const fn new(value: u64) -> Self {
        Self(value)
    }

    pub(crate) const fn get(self) -> u64 {
        self.0
    }

    pub(crate) const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
