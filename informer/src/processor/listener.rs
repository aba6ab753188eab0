//! One handler with its mailbox, and the task that calls it.

use std::{
    any::type_name,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard},
};

use tokio::task::coop::consume_budget;

use super::{
    HandlerOptions, HandlerRegistration,
    control::{Control, EndGuard, Removal},
    item::Item,
    mailbox::{Mailbox, Pushed},
};
use crate::handler::{EventHandler, Notification};

/// A handler that is to be attached to a processor. Dropped before that, it hears nothing.
pub struct Listener<K> {
    pub(super) shared: Arc<Shared<K>>,
    pub(super) task: Task,
}

/// Calls a handler, until it is removed or its mailbox is closed and empty.
pub(super) type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

pub(super) struct Shared<K> {
    pub(super) control: Arc<Control>,
    mailbox: Mutex<Mailbox<K>>,
}

struct Delivery<K, H> {
    shared: Arc<Shared<K>>,
    handler: H,
}

// === impl Listener ===

impl<K: Send + Sync + 'static> Listener<K> {
    /// A listener for `handler`, and the token that keeps it registered.
    pub fn new<H>(handler: H, options: HandlerOptions) -> (Self, HandlerRegistration)
    where
        H: EventHandler<K>,
    {
        let name = options.name.clone();
        let name = name.unwrap_or_else(|| type_name::<H>().into());
        let mailbox = Mutex::new(Mailbox::new(options.buffer));
        let control = Arc::new(Control::new(name, options));
        let registration = HandlerRegistration::new(Arc::clone(&control));
        let end = EndGuard(Arc::clone(&control));
        let shared = Arc::new(Shared { control, mailbox });
        let delivery = Delivery {
            shared: Arc::clone(&shared),
            handler,
        };
        let task = Box::pin(delivery.run(end));
        (Self { shared, task }, registration)
    }
}

impl<K> fmt::Debug for Listener<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Listener")
            .field(&self.shared.control.name)
            .finish()
    }
}

// === impl Shared ===

impl<K> Shared<K> {
    pub(super) fn push(&self, item: Item<K>) {
        let is_live = item.is_live();
        let mut mailbox = self.mailbox();
        let pushed = mailbox.push(item);
        if let Pushed::Taken { count, coalesced } = pushed {
            // Counted before the task can take it, so that the count never goes below zero.
            self.control.note_queued(count as u64, is_live);
            self.control.note_coalesced(coalesced as u64);
        }
        drop(mailbox);
        match pushed {
            Pushed::Taken { .. } => self.control.note_backlog(),
            Pushed::Overflow { limit } => self.overflow(limit),
            Pushed::Refused => {}
        }
        self.control.wake.notify_one();
    }

    /// Removes the handler, and drops what waits for it even while it is called.
    fn overflow(&self, limit: usize) {
        self.control.remove(Removal::Overflow);
        let rest = self.mailbox().clear();
        drop(rest);
        tracing::warn!(handler = %self.control.name, limit, "handler removed, since it fell behind");
    }

    /// Takes nothing more; what waits is still told.
    pub(super) fn close(&self) {
        self.mailbox().close();
        self.control.wake.notify_one();
    }

    /// The next item; `None` once the handler is removed, or the mailbox is closed and empty.
    async fn next(&self) -> Option<Item<K>> {
        loop {
            if self.control.is_removed() {
                return None;
            }
            let (item, is_closed) = {
                let mut mailbox = self.mailbox();
                (mailbox.pop(), mailbox.is_closed())
            };
            if item.is_some() || is_closed {
                return item;
            }
            self.control.wake.notified().await;
        }
    }

    /// All of `item` has been told.
    fn finish(&self, item: &Item<K>) {
        match item {
            Item::Resync(_) => self.mailbox().finish_resync(),
            Item::EndOfInitialState => self.control.synced.set(),
            Item::Changes { .. } | Item::Coalesced(_) | Item::Replay(_) => {}
        }
    }

    fn mailbox(&self) -> MutexGuard<'_, Mailbox<K>> {
        self.mailbox
            .lock()
            .expect("nothing panics while it holds the mailbox")
    }
}

// === impl Delivery ===

impl<K, H> Delivery<K, H>
where
    K: Send + Sync + 'static,
    H: EventHandler<K>,
{
    async fn run(mut self, end: EndGuard) {
        self.shared.control.note_begun();
        while let Some(item) = self.shared.next().await {
            self.tell(item).await;
        }
        // Dropped outside the lock.
        let _rest = self.shared.mailbox().clear();
        // The handler is gone when its end is told.
        drop(self);
        drop(end);
    }

    async fn tell(&mut self, mut item: Item<K>) {
        let is_live = item.is_live();
        while let Some(notification) = item.next() {
            if self.shared.control.is_removed() {
                return;
            }
            self.call(&notification);
            drop(notification);
            self.shared.control.note_delivered(is_live);
            // A long backlog gives way to other tasks from time to time.
            consume_budget().await;
        }
        self.shared.finish(&item);
    }

    /// Calls the handler once. A panic is contained; the notification counts as heard.
    fn call(&mut self, notification: &Notification<K>) {
        let handler = &mut self.handler;
        let call = AssertUnwindSafe(|| handler.on_notification(notification));
        if catch_unwind(call).is_err() {
            self.shared.control.note_panic(notification.key());
        }
    }
}
