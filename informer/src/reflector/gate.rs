//! A limit on the number of reflectors that get a whole state at a time.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// A limit on the number of reflectors that get a whole state at a time; the others wait their turn, in the order in
/// which they came.
///
/// Clones are the same gate. Share one among the informers of one server: after an outage they list one after another
/// instead of all at once. A watch that resumes from a version needs no turn. A turn ends with the list, even if it
/// failed, so that the time limits of lists bound the wait.
#[derive(Clone, Debug)]
pub struct ListGate(Arc<Semaphore>);

// === impl ListGate ===

impl ListGate {
    /// For at most `concurrent_lists` at a time; at least 1.
    pub fn new(concurrent_lists: usize) -> Self {
        let permits = concurrent_lists.clamp(1, Semaphore::MAX_PERMITS);
        Self(Arc::new(Semaphore::new(permits)))
    }

    /// Waits for a turn, which ends when the permit is dropped.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the place in the queue is given up.
    pub(super) async fn enter(&self) -> OwnedSemaphorePermit {
        let permit = Arc::clone(&self.0).acquire_owned().await;
        permit.expect("the semaphore is never closed")
    }
}
