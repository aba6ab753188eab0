//! One handler at the informers of a resource, through their generations.

use std::{fmt, mem, sync::Arc, time::Duration};

use tokio::time::Instant;

use super::handler_slot::AnySlot;
use crate::processor::{HandlerRegistration, HandlerSyncError};

/// Keeps a handler registered at all informers of a [`ScopedInformer`](super::ScopedInformer), also when they are
/// [started again](super::SharedInformerFactory::start); dropping it removes the handler from all.
#[must_use = "dropping it removes the handler; `detach` keeps it for the informers' life"]
pub struct ScopedRegistration {
    /// In order of the namespaces.
    slots: Vec<Arc<dyn AnySlot>>,
}

// === impl ScopedRegistration ===

impl ScopedRegistration {
    pub(super) fn new(slots: Vec<Arc<dyn AnySlot>>) -> Self {
        Self { slots }
    }

    /// Keeps the handler registered for as long as the factory keeps the informers.
    pub fn detach(mut self) {
        self.slots.clear();
    }

    /// Removes the handler and waits until its last call has returned.
    ///
    /// # Cancel safety
    ///
    /// If dropped, the handler is removed all the same.
    pub async fn remove(mut self) {
        let removed = mem::take(&mut self.slots).into_iter();
        let removed: Vec<_> = removed.flat_map(|slot| slot.remove()).collect();
        for registration in removed.into_iter().filter_map(Arc::into_inner) {
            registration.remove().await;
        }
    }

    /// Returns whether the handler has received all of the initial state of every namespace; after a new start, once
    /// more.
    pub fn has_synced(&self) -> bool {
        let registrations = self.slots.iter().map(|slot| slot.registration());
        let mut synced = registrations.map(|own| own.is_some_and(|own| own.has_synced()));
        synced.all(|has_synced| has_synced)
    }

    /// Waits until the handler has received all of the initial state of every namespace, at most for `limit`.
    ///
    /// # Errors
    ///
    /// Not within `limit`, or never, since the handler or an informer ended before. After a new start, waiting again is
    /// useful.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost if dropped. Any number of tasks may wait; all of them are woken.
    pub async fn wait_for_sync(&self, limit: Duration) -> Result<(), HandlerSyncError> {
        let begun = Instant::now();
        for registration in self.registrations() {
            let left = limit.saturating_sub(begun.elapsed());
            registration.wait_for_sync(left).await?;
        }
        Ok(())
    }

    /// The registrations at the informers as they are now, one each, in order of the namespaces: for their metrics.
    ///
    /// While one is held, the handler is not removed from that informer.
    pub fn registrations(&self) -> Vec<Arc<HandlerRegistration>> {
        let registrations = self.slots.iter().filter_map(|slot| slot.registration());
        registrations.collect()
    }
}

impl Drop for ScopedRegistration {
    fn drop(&mut self) {
        for slot in &self.slots {
            drop(slot.remove());
        }
    }
}

impl fmt::Debug for ScopedRegistration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ScopedRegistration")
            .field(&self.registrations())
            .finish()
    }
}
