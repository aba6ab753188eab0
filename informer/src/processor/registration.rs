//! The token that keeps a handler registered.

use std::{sync::Arc, time::Duration};

use super::{
    HandlerEnd, HandlerSyncError, ListenerMetrics,
    control::{Control, Removal},
};

/// Keeps a handler registered; dropping it removes the handler.
///
/// After a removal no call begins, and what waited is dropped; a call that runs is not interrupted. A handler may remove
/// itself from within its own call.
#[doc(alias = "ResourceEventHandlerRegistration")]
#[must_use = "dropping it removes the handler; `detach` keeps it for the informer's life"]
#[derive(Debug)]
pub struct HandlerRegistration {
    control: Arc<Control>,
    is_detached: bool,
}

// === impl HandlerRegistration ===

impl HandlerRegistration {
    pub(super) fn new(control: Arc<Control>) -> Self {
        Self {
            control,
            is_detached: false,
        }
    }

    /// Keeps the handler registered for as long as the informer runs.
    pub fn detach(mut self) {
        self.is_detached = true;
    }

    /// Removes the handler and waits until its last call has returned. From within a call of the handler itself it does not
    /// wait for that call.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the handler is removed all the same.
    pub async fn remove(self) {
        self.control.remove(Removal::Asked);
        if self.control.may_be_calling() && !self.control.is_own_call() {
            self.control.ended.wait().await;
        }
    }

    /// Returns whether the handler ended without having received all of its notifications.
    pub(crate) fn has_missed_some(&self) -> bool {
        self.control.has_missed_some()
    }

    /// Returns whether the handler has received all of the initial state: each of its calls has returned or panicked.
    #[doc(alias = "HasSynced")]
    pub fn has_synced(&self) -> bool {
        self.control.synced.is_set()
    }

    /// Waits until the handler has received all of the initial state, at most for `limit`.
    ///
    /// # Errors
    ///
    /// Not within `limit`, or never, since the handler or the informer ended before.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost if dropped. Any number of tasks may wait; all of them are woken.
    pub async fn wait_for_sync(&self, limit: Duration) -> Result<(), HandlerSyncError> {
        let control = &self.control;
        let handler = || Arc::clone(&control.name);
        tokio::select! {
            biased;
            () = control.synced.wait() => Ok(()),
            () = control.ended.wait() => Err(HandlerSyncError::Ended {
                handler: handler(),
                end: control.end_reason(),
            }),
            () = tokio::time::sleep(limit) => Err(HandlerSyncError::Deadline {
                handler: handler(),
                limit,
                pending: control.pending(),
                is_informer_synced: control.is_initial_state_queued(),
            }),
        }
    }

    /// Returns the reason why the handler receives no more notifications, as soon as that is decided; `None` while it
    /// may receive more.
    pub fn end(&self) -> Option<HandlerEnd> {
        self.control.end()
    }

    /// Waits until the handler receives no more notifications and its last call has returned; returns the reason.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost if dropped. Any number of tasks may wait; all of them are woken.
    pub async fn ended(&self) -> HandlerEnd {
        self.control.ended.wait().await;
        self.control.end_reason()
    }

    /// The handler's name.
    pub fn name(&self) -> &str {
        &self.control.name
    }

    /// Returns the counts of the handler's notifications.
    pub fn metrics(&self) -> ListenerMetrics {
        self.control.metrics()
    }
}

impl Drop for HandlerRegistration {
    fn drop(&mut self) {
        if !self.is_detached {
            self.control.remove(Removal::Asked);
        }
    }
}
