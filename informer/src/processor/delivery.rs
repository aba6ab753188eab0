//! The task of one listener: takes what waits in its mailbox, and calls the handler.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::Duration,
};

use futures::FutureExt;
use tokio::{task::coop::consume_budget, time::sleep};

use super::{
    control::{EndGuard, Removal},
    item::Item,
    listener::Shared,
};
use crate::{
    handler::{AsyncEventHandler, EventHandler, Notification},
    task::run_blocking,
};

/// Calls a handler, until it is removed or its mailbox is closed and empty.
pub(super) struct Delivery<K, C> {
    pub(super) shared: Arc<Shared<K>>,
    pub(super) caller: C,
}

/// The way in which a handler is called.
pub(super) trait Caller<K>: Send + 'static {
    /// Calls it once. An error is a panic that was contained.
    fn call(
        &mut self,
        notification: &Notification<K>,
    ) -> impl Future<Output = Result<(), HandlerPanicked>> + Send;
}

pub(super) struct HandlerPanicked;

/// Calls on the task.
pub(super) struct DirectCalls<H>(pub(super) H);

/// Awaits each call.
pub(super) struct AwaitedCalls<H>(pub(super) H);

// === impl Delivery ===

impl<K, C> Delivery<K, C>
where
    K: Send + Sync + 'static,
    C: Caller<K>,
{
    pub(super) async fn run(mut self, end: EndGuard) {
        self.shared.control.note_begun();
        let stopped = self.shared.control.stopped.clone();
        tokio::select! {
            biased;
            // Drops a call that waits. One that returns from each poll is over by the next.
            () = stopped.wait() => {}
            () = self.notify_all() => {}
        }
        self.finish(end);
    }

    async fn notify_all(&mut self) {
        while let Some(mut item) = self.shared.next().await {
            let is_live = item.is_live();
            while let Some(notification) = item.next() {
                let control = &self.shared.control;
                // Asked before each call, so that a removal takes effect in the middle of an item.
                if control.is_removed() {
                    return;
                }
                if self.caller.call(&notification).await.is_err() {
                    control.note_panic(notification.key());
                }
                control.note_delivered(is_live);
                drop(notification);
                // A long backlog gives way to other tasks from time to time.
                consume_budget().await;
            }
            self.shared.finish(&item);
        }
    }
}

impl<K, H> Delivery<K, DirectCalls<H>>
where
    K: Send + Sync + 'static,
    H: EventHandler<K>,
{
    /// As [`run`](Self::run), but calls on a thread where it may block. Once the listener is to end, it waits for that thread
    /// for `limit`, and then leaves it alone.
    pub(super) async fn run_blocking(mut self, limit: Duration, end: EndGuard) {
        let shared = Arc::clone(&self.shared);
        let control = &shared.control;
        control.note_begun();
        let overdue = async {
            control.ending.wait().await;
            sleep(limit).await;
        };
        tokio::pin!(overdue);
        while let Some(item) = shared.next().await {
            let telling = run_blocking(move || {
                self.notify_here(item);
                self
            });
            tokio::select! {
                biased;
                returned = telling => match returned {
                    Some(own) => self = own,
                    // The runtime is going down.
                    None => return,
                },
                () = &mut overdue => {
                    // Not one call more, wherever the thread is.
                    control.remove(Removal::Stopped);
                    shared.clear();
                    tracing::warn!(handler = %control.name, "blocking handler left alone, since it does not return");
                    return;
                }
            }
        }
        self.finish(end);
    }

    fn notify_here(&mut self, mut item: Item<K>) {
        let control = &self.shared.control;
        let is_live = item.is_live();
        while let Some(notification) = item.next() {
            if control.is_removed() {
                return;
            }
            if self.caller.call_here(&notification).is_err() {
                control.note_panic(notification.key());
            }
            control.note_delivered(is_live);
        }
        self.shared.finish(&item);
    }
}

impl<K, C> Delivery<K, C> {
    /// Drops the handler before its end is reported.
    fn finish(self, end: EndGuard) {
        // Who waits for the end may rely on it that the handler and all that it owned are gone.
        self.shared.clear();
        drop(self);
        drop(end);
    }
}

// === impl DirectCalls ===

impl<H> DirectCalls<H> {
    fn call_here<K>(&mut self, notification: &Notification<K>) -> Result<(), HandlerPanicked>
    where
        H: EventHandler<K>,
    {
        let call = AssertUnwindSafe(|| self.0.on_notification(notification));
        catch_unwind(call).map_err(|_| HandlerPanicked)
    }
}

impl<K: Send + Sync + 'static, H: EventHandler<K>> Caller<K> for DirectCalls<H> {
    async fn call(&mut self, notification: &Notification<K>) -> Result<(), HandlerPanicked> {
        self.call_here(notification)
    }
}

// === impl AwaitedCalls ===

impl<K: Send + Sync + 'static, H: AsyncEventHandler<K>> Caller<K> for AwaitedCalls<H> {
    async fn call(&mut self, notification: &Notification<K>) -> Result<(), HandlerPanicked> {
        let call = async { self.0.on_notification(notification).await };
        let outcome = AssertUnwindSafe(call).catch_unwind().await;
        outcome.map_err(|_| HandlerPanicked)
    }
}
