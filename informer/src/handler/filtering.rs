//! A handler that receives notifications of some objects only.

use std::{collections::BTreeSet, fmt};

use super::{EventHandler, Filter, Notification, NotificationCause};
use crate::object::{Deleted, Object, ObjectKey};

/// Passes on to a handler the notifications of those objects that a filter accepts.
///
/// An object that comes to be accepted is an add to the handler, one that ceases to be is a deletion, with the last state that
/// the handler received.
///
/// # Memory
///
/// Keeps the keys that the handler knows, so that a deletion reaches it even if the filter does not accept the last state.
#[doc(alias = "FilteringResourceEventHandler")]
#[doc(alias = "TypedFilteringResourceEventHandler")]
pub struct FilteringHandler<F, H> {
    filter: F,
    handler: H,
    accepted: BTreeSet<ObjectKey>,
}

// === impl FilteringHandler ===

impl<F, H> FilteringHandler<F, H> {
    /// Passes on to `handler` what `filter` accepts.
    pub fn new<K>(filter: F, handler: H) -> Self
    where
        F: FnMut(&Object<K>) -> bool + Send + 'static,
        H: EventHandler<K>,
    {
        Self {
            filter,
            handler,
            accepted: BTreeSet::new(),
        }
    }

    /// The object came to be accepted.
    fn enter<K>(&mut self, new: &Object<K>, cause: NotificationCause)
    where
        H: EventHandler<K>,
    {
        self.accepted.insert(new.key().clone());
        let object = new.clone();
        self.handler
            .on_notification(&Notification::Add { object, cause });
    }

    /// The object ceased to be accepted; `old` is the last state that the handler received.
    fn leave<K>(&mut self, old: &Object<K>, cause: NotificationCause)
    where
        H: EventHandler<K>,
    {
        self.accepted.remove(old.key());
        let deleted = Deleted::Object(old.clone());
        self.handler
            .on_notification(&Notification::Delete { deleted, cause });
    }
}

impl<H> FilteringHandler<(), H> {
    /// Passes to `handler` what `filter` accepts, by metadata, by a field, or by the object.
    pub fn with_filter<K>(
        filter: Filter<K>,
        handler: H,
    ) -> FilteringHandler<impl FnMut(&Object<K>) -> bool + Send + 'static, H>
    where
        K: Send + Sync + 'static,
        H: EventHandler<K>,
    {
        FilteringHandler::new(move |object: &Object<K>| filter.accepts(object), handler)
    }
}

impl<K, F, H> EventHandler<K> for FilteringHandler<F, H>
where
    F: FnMut(&Object<K>) -> bool + Send + 'static,
    H: EventHandler<K>,
{
    fn on_notification(&mut self, notification: &Notification<K>) {
        match notification {
            Notification::Add { object, .. } => {
                if (self.filter)(object) {
                    self.accepted.insert(object.key().clone());
                    self.handler.on_notification(notification);
                }
            }
            Notification::Update { old, new, cause } => {
                let is_accepted = (self.filter)(new);
                let was_accepted = self.accepted.contains(new.key());
                match (was_accepted, is_accepted) {
                    (true, true) => self.handler.on_notification(notification),
                    (true, false) => self.leave(old, *cause),
                    (false, true) => self.enter(new, *cause),
                    (false, false) => {}
                }
            }
            Notification::Delete { deleted, .. } => {
                if self.accepted.remove(deleted.key()) {
                    self.handler.on_notification(notification);
                }
            }
        }
    }
}

impl<F, H: fmt::Debug> fmt::Debug for FilteringHandler<F, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FilteringHandler")
            .field("handler", &self.handler)
            .finish_non_exhaustive()
    }
}
