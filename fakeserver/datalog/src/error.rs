//! Errors of reading a log.

/// A place in a log that is neither whole nor the end of an interrupted write.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line} (byte {offset}): {reason}")]
#[non_exhaustive]
pub struct Damage {
    /// The byte at which the line begins, from 0.
    pub offset: usize,
    /// The number of the line, from 1.
    pub line: usize,
    /// The problem.
    pub reason: String,
}

// === impl Damage ===

impl Damage {
    pub(crate) fn new(offset: usize, line: usize, reason: impl Into<String>) -> Self {
        Self {
            offset,
            line,
            reason: reason.into(),
        }
    }
}
