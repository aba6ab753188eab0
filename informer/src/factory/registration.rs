//! One handler at the informers of several namespaces.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use crate::{
    handler::{EventHandler, Notification},
    processor::{HandlerRegistration, HandlerSyncError},
};

/// Keeps a handler registered at all informers of a [`ScopedInformer`](super::ScopedInformer); dropping it removes the
/// handler from all.
#[must_use = "dropping it removes the handler; `detach` keeps it for the informers' life"]
#[derive(Debug)]
pub struct ScopedRegistration(pub(super) Vec<HandlerRegistration>);

/// A handler that several informers call, one at a time.
pub(super) struct Handed<H>(Arc<Mutex<H>>);

// === impl ScopedRegistration ===

impl ScopedRegistration {
    /// Keeps the handler registered for as long as the informers run.
    pub fn detach(self) {
        self.0.into_iter().for_each(HandlerRegistration::detach);
    }

    /// Removes the handler and waits until its last call has returned.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the handler is removed all the same.
    pub async fn remove(self) {
        for registration in self.0 {
            registration.remove().await;
        }
    }

    /// Whether the handler has heard all of the initial state of every namespace.
    pub fn has_synced(&self) -> bool {
        self.0.iter().all(HandlerRegistration::has_synced)
    }

    /// Waits until the handler has heard all of the initial state of every namespace, at most for `limit`.
    ///
    /// # Errors
    ///
    /// Not within `limit`, or never, since the handler or an informer ended before.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost if dropped. Any number of tasks may wait; all of them are woken.
    pub async fn wait_for_sync(&self, limit: Duration) -> Result<(), HandlerSyncError> {
        let begun = Instant::now();
        for registration in &self.0 {
            let left = limit.saturating_sub(begun.elapsed());
            registration.wait_for_sync(left).await?;
        }
        Ok(())
    }

    /// The registrations, one an informer, in order of the namespaces.
    pub fn registrations(&self) -> &[HandlerRegistration] {
        &self.0
    }
}

// === impl Handed ===

impl<H> Handed<H> {
    pub(super) fn new(handler: H) -> Self {
        Self(Arc::new(Mutex::new(handler)))
    }

    /// Held for one call, which does not block. A handler that panicked goes on with the next call.
    fn lock(&self) -> MutexGuard<'_, H> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<H> Clone for Handed<H> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<K, H: EventHandler<K>> EventHandler<K> for Handed<H> {
    fn on_notification(&mut self, notification: &Notification<K>) {
        self.lock().on_notification(notification);
    }
}
