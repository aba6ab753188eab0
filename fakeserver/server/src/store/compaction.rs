//! Compaction: the limits of history.

use std::time::Duration;

/// The amount of history that a server keeps. Lists and watches of older revisions are answered with 410.
///
/// Without limits (the default) the whole history is kept, so that a run depends only on its plan.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "complete by definition: history has an age and a size"
)]
pub struct Compaction {
    /// A state is forgotten this long after it was superseded.
    pub age: Option<Duration>,
    /// The oldest states are forgotten while superseded objects take more bytes than this.
    pub bytes: Option<u64>,
}

// === impl Compaction ===

impl Compaction {
    /// Keeps as much as a real server: five minutes, and here at most 128 MiB.
    pub const fn production() -> Self {
        Self {
            age: Some(Duration::from_mins(5)),
            bytes: Some(128 << 20),
        }
    }
}
