//! A handler's place at one informer, through its generations.

use std::{
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::{
    handler::{EventHandler, Notification},
    processor::{HandlerEnd, HandlerOptions, HandlerRegistration, Listener},
    shared_informer::SharedInformer,
};

/// A handler's place at one informer, through its generations. The handler is dropped when it is removed.
pub(super) struct Seat<H> {
    options: Arc<HandlerOptions>,
    place: Mutex<Place<H>>,
}

enum Place<H> {
    Taken {
        handler: Handed<H>,
        /// In the present generation, or in the last one.
        registration: Option<Arc<HandlerRegistration>>,
        /// In the generation before, which may still tell what waits.
        previous: Option<Arc<HandlerRegistration>>,
        /// Whether it was told of what the cache holds.
        knows_the_cache: bool,
    },
    Removed,
}

/// A seat of a handler of whatever type.
pub(super) trait AnySeat: Send + Sync {
    /// The registration in the present generation, or in the last one; nothing once it was removed.
    fn registration(&self) -> Option<Arc<HandlerRegistration>>;
    /// Removes the handler from the seat; it is called until the registrations, which this gives, are gone.
    fn remove(&self) -> Vec<Arc<HandlerRegistration>>;
    fn is_removed(&self) -> bool;
}

/// A seat at an informer of `K`s.
pub(super) trait JoinSeat<K>: AnySeat {
    /// Hears of what is held, and of what changes.
    fn join(&self, informer: &SharedInformer<K>);
    /// Hears of what changes. Only for one that knows what is held.
    fn resume(&self, informer: &SharedInformer<K>);
    /// Hears nothing before the next generation.
    fn wait_for_next(&self);
    /// Whether it was told of what the cache holds, and of everything since.
    fn knows_the_cache(&self) -> bool;
}

/// A handler that several informers call, one at a time.
pub(super) struct Handed<H>(Arc<Mutex<H>>);

// === impl Seat ===

impl<H> Seat<H> {
    pub(super) fn new(handler: Handed<H>, options: Arc<HandlerOptions>) -> Self {
        Self {
            options,
            place: Mutex::new(Place::Taken {
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
        register: impl FnOnce(Handed<H>, HandlerOptions) -> HandlerRegistration,
    ) {
        let mut place = self.lock();
        let Place::Taken {
            handler,
            registration,
            previous,
            knows_the_cache,
        } = &mut *place
        else {
            return;
        };
        let end = registration.as_ref().and_then(|own| own.end());
        if matches!(end, Some(HandlerEnd::Overflowed { .. })) {
            // It lacks what did not fit; only a new registration tells it everything.
            return;
        }
        let new = register(handler.clone(), HandlerOptions::clone(&self.options));
        *previous = registration.replace(Arc::new(new));
        *knows_the_cache |= is_told;
    }

    fn lock(&self) -> MutexGuard<'_, Place<H>> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<H: Send> AnySeat for Seat<H> {
    fn registration(&self) -> Option<Arc<HandlerRegistration>> {
        match &*self.lock() {
            Place::Taken { registration, .. } => registration.clone(),
            Place::Removed => None,
        }
    }

    fn remove(&self) -> Vec<Arc<HandlerRegistration>> {
        // The handler is dropped outside of the lock.
        let place = mem::replace(&mut *self.lock(), Place::Removed);
        match place {
            Place::Taken {
                registration,
                previous,
                ..
            } => registration.into_iter().chain(previous).collect(),
            Place::Removed => Vec::new(),
        }
    }

    fn is_removed(&self) -> bool {
        matches!(*self.lock(), Place::Removed)
    }
}

impl<K, H> JoinSeat<K> for Seat<H>
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
            Place::Taken {
                knows_the_cache,
                registration,
                ..
            } => {
                let missed = registration.as_ref();
                *knows_the_cache && !missed.is_some_and(|own| own.has_missed_some())
            }
            Place::Removed => false,
        }
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
