//! An item in the hands of a worker.

use std::{fmt, ops::Deref, sync::Arc};

use super::{driver::Shared, priority::Priority, queue::TakenItem};

/// An item to work on. No other worker holds it until this is dropped. The drop is client-go's `Done`, and happens also
/// when the worker panics or is cancelled.
///
/// An item that was added meanwhile is queued again by the drop.
#[must_use = "dropping it tells the queue that the work is done"]
pub struct WorkItem<T: Ord + Clone> {
    shared: Arc<Shared<T>>,
    item: T,
    priority: Priority,
}

// === impl WorkItem ===

impl<T: Ord + Clone> WorkItem<T> {
    pub(super) fn new(shared: Arc<Shared<T>>, taken: TakenItem<T>) -> Self {
        Self {
            shared,
            priority: taken.priority(),
            item: taken.item,
        }
    }

    /// The work is done: the same as dropping it, said aloud.
    #[doc(alias = "Done")]
    pub fn done(self) {}

    /// The priority with which it was handed out. Who adds it again after a failure passes it on.
    #[doc(alias = "GetWithPriority")]
    pub fn priority(&self) -> Priority {
        self.priority
    }
}

impl<T: Ord + Clone> Deref for WorkItem<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.item
    }
}

impl<T: Ord + Clone> Drop for WorkItem<T> {
    fn drop(&mut self) {
        let was_held = self
            .shared
            .update(|state, now| state.queue.done(&self.item, now));
        debug_assert!(was_held, "one worker holds an item at a time");
    }
}

impl<T: Ord + Clone + fmt::Debug> fmt::Debug for WorkItem<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkItem")
            .field("item", &self.item)
            .field("priority", &self.priority)
            .finish_non_exhaustive()
    }
}
