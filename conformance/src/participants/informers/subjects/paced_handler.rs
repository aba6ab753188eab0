//! Handlers that take their time: calls that are awaited or that block their threads, and readers of streams.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures::StreamExt;
use informer::{AsyncEventHandler, EventHandler, Notification, NotificationStream};
use tokio::time::sleep;

use super::handler_syncs::HandlerSyncs;

/// A handler whose calls are awaited, each for the same time.
pub(super) struct PacedHandler<H> {
    pub(super) inner: H,
    pub(super) delay: Duration,
    /// Held once more during a call.
    pub(super) call: Arc<()>,
}

/// A handler whose calls block their threads, each for the same time.
pub(super) struct BlockingHandler<H> {
    pub(super) inner: H,
    pub(super) time: Duration,
    /// Held once more during a call.
    pub(super) call: Arc<()>,
}

/// True until a reader is to leave. It is locked during each call, so that no call overlaps the end.
#[derive(Clone, Debug)]
pub(super) struct ReadingFlag(Arc<Mutex<bool>>);

/// A reader of a stream, which hands over what it reads.
pub(super) struct StreamReader<H> {
    pub(super) handler: usize,
    pub(super) inner: H,
    /// The time from one notification to the next.
    pub(super) delay: Option<Duration>,
    /// The number of notifications after which it drops the stream, if it does.
    pub(super) leave_at_count: Option<u32>,
    pub(super) syncs: HandlerSyncs,
    pub(super) is_reading: ReadingFlag,
}

// === impl ReadingFlag ===

impl ReadingFlag {
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new(true)))
    }

    /// Ends the reading: the call that is going on is over when this returns, and no other follows.
    pub(super) fn end(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = false;
    }

    /// Calls `call`, and returns true, unless the reading is over.
    fn call(&self, call: impl FnOnce()) -> bool {
        let is_reading = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if *is_reading {
            call();
        }
        *is_reading
    }
}

// === impl PacedHandler ===

impl<K, H> AsyncEventHandler<K> for PacedHandler<H>
where
    K: Send + Sync + 'static,
    H: EventHandler<K>,
{
    async fn on_notification(&mut self, notification: &Notification<K>) {
        let _call = Arc::clone(&self.call);
        self.inner.on_notification(notification);
        sleep(self.delay).await;
    }
}

// === impl BlockingHandler ===

impl<K, H> EventHandler<K> for BlockingHandler<H>
where
    K: Send + Sync + 'static,
    H: EventHandler<K>,
{
    #[expect(
        clippy::disallowed_methods,
        reason = "the thread is there to be blocked, in runs in real time only"
    )]
    fn on_notification(&mut self, notification: &Notification<K>) {
        let _call = Arc::clone(&self.call);
        self.inner.on_notification(notification);
        std::thread::sleep(self.time);
    }
}

// === impl StreamReader ===

impl<H> StreamReader<H> {
    /// Reads until the stream ends, or this has read enough.
    pub(super) async fn read<K>(mut self, mut stream: NotificationStream<K>)
    where
        K: Send + Sync + 'static,
        H: EventHandler<K>,
    {
        let mut count = 0;
        while let Some(notification) = stream.next().await {
            let inner = &mut self.inner;
            let is_called = self.is_reading.call(|| {
                self.syncs.see(self.handler, || stream.has_synced());
                inner.on_notification(&notification);
            });
            count += 1;
            if !is_called || self.leave_at_count == Some(count) {
                return;
            }
            if let Some(delay) = self.delay {
                sleep(delay).await;
            }
        }
        self.syncs.see(self.handler, || stream.has_synced());
    }
}
