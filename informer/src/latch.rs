//! An event that happens once and wakes all its waiters, in the order in which they came.

use tokio_util::sync::CancellationToken;

/// Set once, for ever. Clones are the same event.
#[derive(Clone, Debug, Default)]
pub(crate) struct Latch(CancellationToken);

// === impl Latch ===

impl Latch {
    pub(crate) fn set(&self) {
        self.0.cancel();
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.is_cancelled()
    }

    /// Resolves once it is set; loses nothing when dropped.
    pub(crate) async fn wait(&self) {
        self.0.cancelled().await;
    }
}
