//! Keys from outside of what controllers follow.

use std::sync::{Arc, Mutex, PoisonError};

use crate::{object::ObjectKey, workqueue::WorkQueue};

/// A source of keys for reasons that no cache shows: a webhook, a message, another cluster. A clone is the same source.
///
/// [`Controller::woken_by`](super::Controller::woken_by) lets a controller listen.
#[derive(Clone, Debug, Default)]
#[doc(alias = "Channel")]
#[doc(alias = "GenericEvent")]
pub struct ExternalSource(Arc<Mutex<Vec<WorkQueue<ObjectKey>>>>);

// === impl ExternalSource ===

impl ExternalSource {
    /// Creates a source to which nothing listens yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets all controllers that listen reconcile a key, whether there is an object of it or not.
    ///
    /// A controller that waits for its caches or for the leadership takes the key up when it starts. One whose manager does not run does
    /// not hear it, and one that starts reconciles all objects anyway. A key that is queued already stays queued once.
    pub fn enqueue(&self, key: &ObjectKey) {
        let mut queues = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        queues.retain(|queue| !queue.is_shutting_down());
        for queue in &*queues {
            queue.add(key.clone());
        }
    }

    pub(super) fn attach(&self, queue: &WorkQueue<ObjectKey>) {
        let mut queues = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        queues.retain(|queue| !queue.is_shutting_down());
        queues.push(queue.clone());
    }
}
