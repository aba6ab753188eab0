//! One handler with its mailbox: what the processor holds, and what the handler's task reads.

use std::{any::type_name, fmt, pin::Pin, sync::Arc};

use super::{
    HandlerOptions, HandlerRegistration, NotificationStream,
    control::{Control, EndGuard, Removal},
    delivery::{AwaitedCalls, Delivery, DirectCalls},
    item::Item,
    mailbox::{Mailbox, PushResult},
};
use crate::{
    handler::{AsyncEventHandler, EventHandler},
    sync::{Mutex, MutexGuard, lock},
};

/// A handler that is to be attached to a processor. Dropped before that, it receives nothing.
pub struct Listener<K> {
    pub(super) shared: Arc<Shared<K>>,
    pub(super) reader: Reader<K>,
}

/// Calls a handler, until it is removed or its mailbox is closed and empty.
pub(super) type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The reader of the mailbox.
pub(super) enum Reader<K> {
    /// A task that is yet to be spawned.
    Task(Task),
    /// A stream held by its reader. It can read what is pending even when the processor is gone.
    Stream(CloseGuard<K>),
}

/// A guard that closes a mailbox when it has no writer left.
pub(super) struct CloseGuard<K>(Arc<Shared<K>>);

pub(super) struct Shared<K> {
    pub(super) control: Arc<Control>,
    mailbox: Mutex<Mailbox<K>>,
}

/// The next item of a mailbox for its reader.
pub(super) enum Next<K> {
    Item(Item<K>),
    /// Nothing yet.
    Nothing,
    /// Nothing any more.
    Over,
}

// === impl Listener ===

impl<K: Send + Sync + 'static> Listener<K> {
    /// A listener for `handler`, and the token that keeps it registered.
    pub fn new<H>(handler: H, options: HandlerOptions) -> (Self, HandlerRegistration)
    where
        H: EventHandler<K>,
    {
        let blocking = options.blocking;
        Self::with_task::<H>(options, |shared, end| {
            let caller = DirectCalls(handler);
            let delivery = Delivery { shared, caller };
            match blocking {
                Some(limit) => Box::pin(delivery.run_blocking(limit, end)),
                None => Box::pin(delivery.run(end)),
            }
        })
    }

    /// The same for a handler whose calls are awaited.
    pub fn new_async<H>(handler: H, options: HandlerOptions) -> (Self, HandlerRegistration)
    where
        H: AsyncEventHandler<K>,
    {
        Self::with_task::<H>(options, |shared, end| {
            let caller = AwaitedCalls(handler);
            Box::pin(Delivery { shared, caller }.run(end))
        })
    }

    /// A listener that is read as a stream.
    pub fn stream(options: HandlerOptions) -> (Self, NotificationStream<K>) {
        let shared = Shared::new(options, "stream");
        let registration = HandlerRegistration::new(Arc::clone(&shared.control));
        let end = EndGuard(Arc::clone(&shared.control));
        let stream = NotificationStream::new(Arc::clone(&shared), registration, end);
        let reader = Reader::Stream(CloseGuard(Arc::clone(&shared)));
        (Self { shared, reader }, stream)
    }

    fn with_task<H>(
        options: HandlerOptions,
        task: impl FnOnce(Arc<Shared<K>>, EndGuard) -> Task,
    ) -> (Self, HandlerRegistration) {
        let shared = Shared::new(options, type_name::<H>());
        let registration = HandlerRegistration::new(Arc::clone(&shared.control));
        let end = EndGuard(Arc::clone(&shared.control));
        let reader = Reader::Task(task(Arc::clone(&shared), end));
        (Self { shared, reader }, registration)
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
    fn new(options: HandlerOptions, default_name: &str) -> Arc<Self> {
        let name = options.name.clone();
        let name = name.unwrap_or_else(|| default_name.into());
        let mailbox = Mutex::new(Mailbox::new(options.buffer));
        let control = Arc::new(Control::new(name, options));
        Arc::new(Self { control, mailbox })
    }

    pub(super) fn push(&self, item: Item<K>) {
        let is_live = item.is_live();
        let mut mailbox = self.mailbox();
        let pushed = mailbox.push(item);
        if let PushResult::Taken { count, coalesced } = pushed {
            // Counted before the task can take it, so that the count never goes below zero.
            self.control.note_queued(count as u64, is_live);
            self.control.note_coalesced(coalesced as u64);
        }
        drop(mailbox);
        match pushed {
            PushResult::Taken { .. } => self.control.note_backlog(),
            PushResult::Overflow { limit } => self.overflow(limit),
            PushResult::Refused => {}
        }
        self.control.wake.notify_one();
    }

    /// Removes the handler, and drops what waits for it even while it is called.
    fn overflow(&self, limit: usize) {
        self.control.remove(Removal::Overflow);
        self.clear();
        tracing::warn!(handler = %self.control.name, limit, "handler removed, since it fell behind");
    }

    /// Takes nothing more; pending notifications are still delivered.
    pub(super) fn close(&self) {
        // Closed before it is woken, or its task would wait again.
        self.mailbox().close();
        self.control.ending.set();
        self.control.wake.notify_one();
    }

    /// Takes nothing more, and drops what waits.
    pub(super) fn clear(&self) {
        let rest = self.mailbox().clear();
        // Outside the lock.
        drop(rest);
    }

    /// Returns the item that is there now.
    pub(super) fn try_next(&self) -> Next<K> {
        if self.control.is_removed() {
            return Next::Over;
        }
        let mut mailbox = self.mailbox();
        match mailbox.pop() {
            Some(item) => Next::Item(item),
            None if mailbox.is_closed() => {
                self.control.note_drained();
                Next::Over
            }
            None => Next::Nothing,
        }
    }

    /// The next item; `None` once the handler is removed, or the mailbox is closed and empty.
    pub(super) async fn next(&self) -> Option<Item<K>> {
        loop {
            match self.try_next() {
                Next::Item(item) => return Some(item),
                Next::Over => return None,
                Next::Nothing => self.control.wake.notified().await,
            }
        }
    }

    /// Notes that all of `item` has been delivered.
    pub(super) fn finish(&self, item: &Item<K>) {
        match item {
            Item::Resync(_) => self.mailbox().finish_resync(),
            Item::EndOfInitialState => self.control.synced.set(),
            Item::Changes { .. } | Item::Coalesced(_) | Item::Replay(_) => {}
        }
    }

    fn mailbox(&self) -> MutexGuard<'_, Mailbox<K>> {
        lock(&self.mailbox)
    }
}

// === impl CloseGuard ===

impl<K> Drop for CloseGuard<K> {
    fn drop(&mut self) {
        self.0.close();
    }
}
