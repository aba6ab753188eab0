//! Seam to the user: handlers, and what they are told.

mod funcs;
mod filter;
mod filtering;
#[cfg(test)]
mod tests;

use crate::object::{Deleted, Object, ObjectKey};

pub use self::{filter::Filter, filtering::FilteringHandler, funcs::HandlerFuncs};

/// Hears of every change of the cache.
///
/// # Ordering
///
/// Calls to one handler come one at a time, and for one key in the order of the cache's states; the cache shows a change
/// before any handler hears of it, and may already show later ones. Handlers are independent of each other.
///
/// # Panics
///
/// A panic is contained and reported; that notification is lost, the handler goes on with the next.
///
/// Calls run on an async task and must not block its thread; hand long work to a queue.
#[doc(alias = "ResourceEventHandler")]
pub trait EventHandler<K>: Send + 'static {
    /// The object is new in the cache; `in_initial_list` for what was there when the informer started, or when this
    /// handler joined.
    fn on_add(&mut self, object: &Object<K>, in_initial_list: bool) {
        let _ = (object, in_initial_list);
    }

    /// The object changed from `old`, which is what this handler was last told, to `new`. Never another uid. On a resync
    /// both are the same handle.
    fn on_update(&mut self, old: &Object<K>, new: &Object<K>) {
        let _ = (old, new);
    }

    /// The object is gone, or was found to be gone (a tombstone).
    fn on_delete(&mut self, deleted: &Deleted<K>) {
        let _ = deleted;
    }
}

/// One thing told to a handler.
#[derive(Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "complete by definition: one variant a handler method"
)]
pub enum Notification<K> {
    /// See [`EventHandler::on_add`].
    Add {
        /// The object.
        object: Object<K>,
        /// Whether it belongs to the initial state.
        in_initial_list: bool,
    },
    /// See [`EventHandler::on_update`].
    Update {
        /// What this handler was last told.
        old: Object<K>,
        /// What is true now.
        new: Object<K>,
        /// Whether nothing changed: the cache is told again.
        is_resync: bool,
    },
    /// See [`EventHandler::on_delete`].
    Delete(Deleted<K>),
}

// === impl Notification ===

impl<K> Notification<K> {
    /// The key it is about.
    pub fn key(&self) -> &ObjectKey {
        match self {
            Self::Add { object, .. } => object.key(),
            Self::Update { new, .. } => new.key(),
            Self::Delete(deleted) => deleted.key(),
        }
    }

    /// Calls the handler's method for it.
    pub fn deliver(&self, handler: &mut impl EventHandler<K>) {
        match self {
            Self::Add {
                object,
                in_initial_list,
            } => handler.on_add(object, *in_initial_list),
            Self::Update { old, new, .. } => handler.on_update(old, new),
            Self::Delete(deleted) => handler.on_delete(deleted),
        }
    }
}

impl<K> Clone for Notification<K> {
    fn clone(&self) -> Self {
        match self {
            Self::Add {
                object,
                in_initial_list,
            } => Self::Add {
                object: object.clone(),
                in_initial_list: *in_initial_list,
            },
            Self::Update {
                old,
                new,
                is_resync,
            } => Self::Update {
                old: old.clone(),
                new: new.clone(),
                is_resync: *is_resync,
            },
            Self::Delete(deleted) => Self::Delete(deleted.clone()),
        }
    }
}
