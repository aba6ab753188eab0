//! Notifications as a stream.

use std::{
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use futures::Stream;
use tokio::{sync::futures::OwnedNotified, task::coop::poll_proceed};

use super::{
    HandlerRegistration,
    control::EndGuard,
    item::Item,
    listener::{Next, Shared},
};
use crate::handler::Notification;

/// The notifications of a handler, as a stream. Dropping it removes the handler.
///
/// The stream reads the listener's mailbox itself: there is no task and no channel between, so that a reader who is slow has what
/// waits merged, or is disconnected, as its [`Buffer`](super::Buffer) says, and never keeps the informer.
///
/// The stream ends when the informer stops. After a shutdown it gives first what was waiting; the shutdown does not wait for
/// that. [`HandlerRegistration::end`] says why it ended.
///
/// # Memory
///
/// That of the mailbox, and one batch that is being read.
#[must_use = "dropping it removes the listener"]
pub struct NotificationStream<K> {
    shared: Arc<Shared<K>>,
    registration: HandlerRegistration,
    reading: Option<Item<K>>,
    woken: Pin<Box<OwnedNotified>>,
    end: Option<EndGuard>,
}

// === impl NotificationStream ===

impl<K> NotificationStream<K> {
    pub(super) fn new(
        shared: Arc<Shared<K>>,
        registration: HandlerRegistration,
        end: EndGuard,
    ) -> Self {
        let woken = Box::pin(Arc::clone(&shared.control.wake).notified_owned());
        Self {
            shared,
            registration,
            reading: None,
            woken,
            end: Some(end),
        }
    }

    /// Returns the registration of the listener. It has synced when the stream was polled again after the last of the
    /// initial state.
    pub fn registration(&self) -> &HandlerRegistration {
        &self.registration
    }

    /// Returns whether all of the initial state was given, and the stream was polled again.
    pub fn has_synced(&self) -> bool {
        self.registration.has_synced()
    }

    /// The next of what was taken from the mailbox.
    fn read(&mut self) -> Option<Notification<K>> {
        let item = self.reading.as_mut()?;
        let is_live = item.is_live();
        if let Some(notification) = item.next() {
            let notification = notification.into_owned();
            self.shared.control.note_delivered(is_live);
            return Some(notification);
        }
        self.shared.finish(item);
        self.reading = None;
        None
    }
}

impl<K> Stream for NotificationStream<K> {
    type Item = Notification<K>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        // A long backlog gives way to other tasks from time to time.
        let budget = ready!(poll_proceed(cx));
        loop {
            if !this.shared.control.is_removed()
                && let Some(notification) = this.read()
            {
                budget.made_progress();
                return Poll::Ready(Some(notification));
            }
            match this.shared.try_next() {
                Next::Item(item) => this.reading = Some(item),
                Next::Over => {
                    budget.made_progress();
                    this.reading = None;
                    this.shared.clear();
                    this.end = None;
                    return Poll::Ready(None);
                }
                Next::Nothing => {
                    ready!(this.woken.as_mut().poll(cx));
                    let wake = Arc::clone(&this.shared.control.wake);
                    this.woken.set(wake.notified_owned());
                }
            }
        }
    }
}

impl<K> Drop for NotificationStream<K> {
    fn drop(&mut self) {
        self.shared.clear();
    }
}

impl<K> fmt::Debug for NotificationStream<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("NotificationStream")
            .field(&self.registration.name())
            .finish()
    }
}
