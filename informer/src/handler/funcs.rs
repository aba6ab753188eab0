//! A handler made of closures.

use std::fmt;

use super::{EventHandler, Notification};
use crate::object::{Deleted, Object};

type OnAdd<K> = Box<dyn FnMut(&Object<K>, bool) + Send>;
type OnUpdate<K> = Box<dyn FnMut(&Object<K>, &Object<K>) + Send>;
type OnDelete<K> = Box<dyn FnMut(&Deleted<K>) + Send>;
type OnNotification<K> = Box<dyn FnMut(&Notification<K>) + Send>;

/// A handler made of closures; notifications without a closure are ignored.
///
/// # Examples
///
/// ```
/// use informer::HandlerFuncs;
/// use k8s_openapi::api::core::v1::Pod;
///
/// let handler = HandlerFuncs::<Pod>::new()
///     .with_add(|pod, in_initial_list| println!("{} {in_initial_list}", pod.key()))
///     .with_update(|old, new| println!("{} {}", old.resource_version(), new.resource_version()))
///     .with_delete(|deleted| println!("{}", deleted.key()));
/// # let _ = handler;
/// ```
#[doc(alias = "ResourceEventHandlerFuncs")]
#[doc(alias = "TypedResourceEventHandlerFuncs")]
pub struct HandlerFuncs<K> {
    add: Option<OnAdd<K>>,
    update: Option<OnUpdate<K>>,
    delete: Option<OnDelete<K>>,
    notification: Option<OnNotification<K>>,
}

// === impl HandlerFuncs ===

impl<K> HandlerFuncs<K> {
    /// Hears nothing.
    pub fn new() -> Self {
        Self {
            add: None,
            update: None,
            delete: None,
            notification: None,
        }
    }

    /// Calls `add` for [`EventHandler::on_add`].
    #[must_use]
    pub fn with_add(mut self, add: impl FnMut(&Object<K>, bool) + Send + 'static) -> Self {
        self.add = Some(Box::new(add));
        self
    }

    /// Calls `update` for [`EventHandler::on_update`].
    #[must_use]
    pub fn with_update(
        mut self,
        update: impl FnMut(&Object<K>, &Object<K>) + Send + 'static,
    ) -> Self {
        self.update = Some(Box::new(update));
        self
    }

    /// Calls `delete` for [`EventHandler::on_delete`].
    #[must_use]
    pub fn with_delete(mut self, delete: impl FnMut(&Deleted<K>) + Send + 'static) -> Self {
        self.delete = Some(Box::new(delete));
        self
    }

    /// Calls `notification` for everything, with its cause; and after it the matching one of the other three, if it is
    /// set.
    #[doc(alias = "ResourceEventHandlerDetailedFuncs")]
    #[must_use]
    pub fn with_notification(
        mut self,
        notification: impl FnMut(&Notification<K>) + Send + 'static,
    ) -> Self {
        self.notification = Some(Box::new(notification));
        self
    }
}

impl<K: 'static> EventHandler<K> for HandlerFuncs<K> {
    fn on_add(&mut self, object: &Object<K>, in_initial_list: bool) {
        if let Some(add) = &mut self.add {
            add(object, in_initial_list);
        }
    }

    fn on_update(&mut self, old: &Object<K>, new: &Object<K>) {
        if let Some(update) = &mut self.update {
            update(old, new);
        }
    }

    fn on_delete(&mut self, deleted: &Deleted<K>) {
        if let Some(delete) = &mut self.delete {
            delete(deleted);
        }
    }

    fn on_notification(&mut self, notification: &Notification<K>) {
        if let Some(own) = &mut self.notification {
            own(notification);
        }
        notification.dispatch(self);
    }
}

impl<K> Default for HandlerFuncs<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K> fmt::Debug for HandlerFuncs<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HandlerFuncs")
            .field("add", &self.add.is_some())
            .field("update", &self.update.is_some())
            .field("delete", &self.delete.is_some())
            .field("notification", &self.notification.is_some())
            .finish()
    }
}
