//! A handler's state at one informer, through its generations.

use std::{
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::{
    handler::{EventHandler, Notification},
    processor::{HandlerEnd, HandlerOptions, HandlerRegistration, Listener},
    shared_informer::SharedInformer,
};

/// A handler's state at one informer, through its generations. The handler is dropped when it is removed.
pub(super) struct HandlerSlot<H> {
    options: Arc<HandlerOptions>,
    state: Mutex<SlotState<H>>,
}

enum SlotState<H> {
    Filled {
        handler: SharedHandler<H>,
        /// The registration in the present generation, or in the last one.
        registration: Option<Arc<HandlerRegistration>>,
        /// The registration in the generation before, which may still deliver what waits.
        previous: Option<Arc<HandlerRegistration>>,
        /// True if it was notified of the cache's contents.
        knows_the_cache: bool,
    },
    Removed,
}

/// A slot of a handler of any type.
pub(super) trait AnySlot: Send + Sync {
    /// The registration in the present generation, or in the last one; nothing once it was removed.
    fn registration(&self) -> Option<Arc<HandlerRegistration>>;
    /// Removes the handler from the slot; it is called until the registrations, which this gives, are gone.
    fn remove(&self) -> Vec<Arc<HandlerRegistration>>;
    fn is_removed(&self) -> bool;
}

/// A slot at an informer of `K`s.
pub(super) trait InformerSlot<K>: AnySlot {
    /// Registers the handler for what is held, and for changes.
    fn join(&self, informer: &SharedInformer<K>);
    /// Registers the handler for changes only. It knows what is held.
    fn resume(&self, informer: &SharedInformer<K>);
    /// Registers the handler for nothing before the next generation.
    fn wait_for_next(&self);
    /// Returns whether it was notified of the cache's contents, and of everything since.
    fn knows_the_cache(&self) -> bool;
}

/// A handler that several informers call, one at a time.
pub(super) struct SharedHandler<H>(Arc<Mutex<H>>);

// === impl HandlerSlot ===

impl<H> HandlerSlot<H> {
    pub(super) fn new(handler: SharedHandler<H>, options: Arc<HandlerOptions>) -> Self {
        Self {
            options,
            state: Mutex::new(SlotState::Filled {
                handler,
                registration: None,
                previous: None,
                knows_the_cache: false,
            }),
        }
    }

    /// Registers the handler as `register` does; keeps the registration in place of the last one.
    fn register(
        &self,
        is_told: bool,
        register: impl FnOnce(SharedHandler<H>, HandlerOptions) -> HandlerRegistration,
    ) {
        let mut state = self.lock();
        let SlotState::Filled {
            handler,
            registration,
            previous,
            knows_the_cache,
        } = &mut *state
        else {
            return;
        };
        let end = registration.as_ref().and_then(|own| own.end());
        if matches!(end, Some(HandlerEnd::Overflowed { .. })) {
            // It lacks what did not fit; only a new registration delivers everything.
            return;
        }
        let new = register(handler.clone(), HandlerOptions::clone(&self.options));
        *previous = registration.replace(Arc::new(new));
        *knows_the_cache |= is_told;
    }

    fn lock(&self) -> MutexGuard<'_, SlotState<H>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<H: Send> AnySlot for HandlerSlot<H> {
    fn registration(&self) -> Option<Arc<HandlerRegistration>> {
        match &*self.lock() {
            SlotState::Filled { registration, .. } => registration.clone(),
            SlotState::Removed => None,
        }
    }

    fn remove(&self) -> Vec<Arc<HandlerRegistration>> {
        // The handler is dropped outside of the lock.
        let state = mem::replace(&mut *self.lock(), SlotState::Removed);
        match state {
            SlotState::Filled {
                registration,
                previous,
                ..
            } => registration.into_iter().chain(previous).collect(),
            SlotState::Removed => Vec::new(),
        }
    }

    fn is_removed(&self) -> bool {
        matches!(*self.lock(), SlotState::Removed)
    }
}

impl<K, H> InformerSlot<K> for HandlerSlot<H>
where
    K: Send + Sync + 'static,
    H: EventHandler<K>,
{
    fn join(&self, informer: &SharedInformer<K>) {
        self.register(true, |handler, options| {
            informer.add_handler_with(handler, options)
        });
    }

    fn resume(&self, informer: &SharedInformer<K>) {
        self.register(true, |handler, options| {
            informer.resume_handler(handler, options)
        });
    }

    fn wait_for_next(&self) {
        self.register(false, |handler, options| {
            // A listener that is dropped ends its registration.
            let (_, registration) = Listener::<K>::new(handler, options);
            registration
        });
    }

    fn knows_the_cache(&self) -> bool {
        match &*self.lock() {
            SlotState::Filled {
                knows_the_cache,
                registration,
                ..
            } => {
                let missed = registration.as_ref();
                *knows_the_cache && !missed.is_some_and(|own| own.has_missed_some())
            }
            SlotState::Removed => false,
        }
    }
}

// === impl SharedHandler ===

impl<H> SharedHandler<H> {
    pub(super) fn new(handler: H) -> Self {
        Self(Arc::new(Mutex::new(handler)))
    }

    /// Held for one call, which does not block. A handler that panicked receives the next call.
    fn lock(&self) -> MutexGuard<'_, H> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<H> Clone for SharedHandler<H> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<K, H: EventHandler<K>> EventHandler<K> for SharedHandler<H> {
    fn on_notification(&mut self, notification: &Notification<K>) {
        self.lock().on_notification(notification);
    }
}
