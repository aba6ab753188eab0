//! The error of a damaged file.

/// A file that is no database, or a damaged one, with the place of the damage. Reading it again gives the same: use another
/// snapshot.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("page {page}, offset {offset}: {reason}")]
pub struct BoltError {
    page: u64,
    offset: u64,
    reason: String,
}

// === impl BoltError ===

impl BoltError {
    pub(crate) fn new(page: u64, offset: usize, reason: impl Into<String>) -> Self {
        Self {
            page,
            offset: offset as u64,
            reason: reason.into(),
        }
    }

    /// The page that is wrong, from 0.
    pub fn page(&self) -> u64 {
        self.page
    }

    /// The place in the file, in bytes from its begin.
    pub fn offset(&self) -> u64 {
        self.offset
    }
}
