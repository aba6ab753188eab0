//! The state of one listener as seen from outside its task, independent of the type of its objects.
//!
//! | state | signals | calls of the handler | left by |
//! |---|---|---|---|
//! | waiting | | none | its task runs, or a stream is read: running |
//! | running | `has_begun` | one after another | the mailbox is closed: draining |
//! | draining | `ending` | those that wait in the mailbox | nothing waits any more (`has_drained`): ended |
//! | removed | `ending`, `removal` | none begins; one may run | that call returns, or is dropped by `stopped`: ended |
//! | ended | `ended` | none | |
//!
//! Any state but the last becomes removed when the registration is dropped, the buffer overflows or the processor is dropped,
//! which also sets `stopped`. A listener that is dropped before its task runs becomes ended at once. `synced` is set in
//! between, once the calls for the initial state have returned.

use std::sync::{Arc, OnceLock};

use tokio::sync::Notify;

use super::{
    Buffer, HandlerEnd, HandlerOptions,
    metrics::{Labels, Series},
};
use crate::{
    counter::Counter,
    latch::Latch,
    object::ObjectKey,
    sync::{AtomicBool, AtomicU8, AtomicU64, Ordering},
};

/// The counts of one handler's notifications.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListenerMetrics {
    /// The handler's name.
    pub handler: Arc<str>,
    /// `informer_pending_notifications`: the number that the handler has yet to receive.
    pub pending: u64,
    /// The number of notifications that it has received.
    pub delivered: u64,
    /// The number of notifications that it never receives, since they were merged with others.
    pub coalesced: u64,
    /// The number of notifications on which it panicked.
    pub panics: u64,
    /// True if it has received the initial state.
    pub has_synced: bool,
}

/// Shared by a listener, its task and its registration.
#[derive(Debug)]
pub(super) struct Control {
    pub(super) name: Arc<str>,
    pub(super) options: HandlerOptions,
    /// Wakes the reader of the mailbox.
    pub(super) wake: Arc<Notify>,
    /// The handler has received the initial state.
    pub(super) synced: Latch,
    /// The listener is removed, or receives only what waits.
    pub(super) ending: Latch,
    /// The informer is gone: no task waits for a call to return.
    pub(super) stopped: Latch,
    /// The task has ended, or never will run.
    pub(super) ended: Latch,
    /// The reason why no call begins any more: one of [`Removal`], or zero.
    removal: AtomicU8,
    has_begun: AtomicBool,
    /// True if the handler received everything before it ended.
    has_drained: AtomicBool,
    /// The task that calls the handler.
    caller: OnceLock<tokio::task::Id>,
    is_initial_state_queued: AtomicBool,
    pending: AtomicU64,
    /// Those of `pending` that are live changes.
    backlog: AtomicU64,
    is_warned: AtomicBool,
    delivered: Counter,
    coalesced: Counter,
    panics: Counter,
    /// The metrics that report the same, once the name of the listener is known.
    series: OnceLock<Series>,
}

/// The reason why no call begins any more.
#[derive(Clone, Copy)]
pub(super) enum Removal {
    /// The registration was dropped.
    Asked = 1,
    /// Too much waited.
    Overflow,
    /// The processor was dropped.
    Stopped,
}

/// Says that a listener's task has ended, also when it was dropped before it ran.
pub(super) struct EndGuard(pub(super) Arc<Control>);

// === impl Control ===

impl Control {
    pub(super) fn new(name: Arc<str>, options: HandlerOptions) -> Self {
        Self {
            name,
            options,
            wake: Arc::default(),
            synced: Latch::default(),
            ending: Latch::default(),
            stopped: Latch::default(),
            ended: Latch::default(),
            removal: AtomicU8::new(0),
            has_begun: AtomicBool::new(false),
            has_drained: AtomicBool::new(false),
            caller: OnceLock::new(),
            is_initial_state_queued: AtomicBool::new(false),
            pending: AtomicU64::new(0),
            backlog: AtomicU64::new(0),
            is_warned: AtomicBool::new(false),
            delivered: Counter::default(),
            coalesced: Counter::default(),
            panics: Counter::default(),
            series: OnceLock::new(),
        }
    }

    /// No call begins after this; one that runs is not waited for. The first reason holds.
    pub(super) fn remove(&self, removal: Removal) {
        let none = 0;
        let _ =
            self.removal
                .compare_exchange(none, removal as u8, Ordering::SeqCst, Ordering::SeqCst);
        self.ending.set();
        self.wake.notify_one();
    }

    pub(super) fn is_removed(&self) -> bool {
        self.removal.load(Ordering::SeqCst) != 0
    }

    /// Returns the reason why no notifications follow; `None` while they may.
    pub(super) fn end(&self) -> Option<HandlerEnd> {
        let handler = || Arc::clone(&self.name);
        let removal = self.removal.load(Ordering::SeqCst);
        if removal == Removal::Asked as u8 {
            return Some(HandlerEnd::Removed { handler: handler() });
        }
        if let Buffer::Disconnecting { limit } = self.options.buffer
            && removal == Removal::Overflow as u8
        {
            let handler = handler();
            return Some(HandlerEnd::Overflowed { handler, limit });
        }
        let has_stopped = removal != 0 || self.ended.is_set();
        has_stopped.then(|| HandlerEnd::Stopped { handler: handler() })
    }

    /// As [`end`](Self::end), once [`ended`](Self::ended) is set.
    pub(super) fn end_reason(&self) -> HandlerEnd {
        self.end().expect("what has ended has a reason")
    }

    /// The task runs: from here on it looks whether the handler is removed before each call.
    pub(super) fn note_begun(&self) {
        self.has_begun.store(true, Ordering::SeqCst);
        if let Some(caller) = tokio::task::try_id() {
            self.caller.get_or_init(|| caller);
        }
    }

    /// Returns whether a call may be running. Asked after a removal, in one order with it: if the task has not begun by
    /// then, it will find the handler removed before its first call.
    pub(super) fn may_be_calling(&self) -> bool {
        self.has_begun.load(Ordering::SeqCst) && !self.ended.is_set()
    }

    /// Returns whether the caller is the handler itself, within a call of it.
    pub(super) fn is_own_call(&self) -> bool {
        self.caller.get().is_some() && self.caller.get() == tokio::task::try_id().as_ref()
    }

    /// Nothing waits any more, and nothing will come.
    pub(super) fn note_drained(&self) {
        self.has_drained.store(true, Ordering::SeqCst);
    }

    /// Returns whether it ended without having received everything.
    pub(super) fn has_missed_some(&self) -> bool {
        self.ended.is_set() && !self.has_drained.load(Ordering::SeqCst)
    }

    pub(super) fn note_initial_state_queued(&self) {
        self.is_initial_state_queued.store(true, Ordering::Release);
    }

    pub(super) fn is_initial_state_queued(&self) -> bool {
        self.is_initial_state_queued.load(Ordering::Acquire)
    }

    /// Reports as a listener of this informer from now on.
    pub(super) fn report_as(&self, informer: &Labels) {
        let series = self
            .series
            .get_or_init(|| Series::new(informer, &self.name));
        series.set_pending(self.pending());
    }

    fn report_pending(&self) {
        if let Some(series) = self.series.get() {
            series.set_pending(self.pending());
        }
    }

    /// Adds `count` notifications to those that are pending.
    pub(super) fn note_queued(&self, count: u64, is_live: bool) {
        self.pending.fetch_add(count, Ordering::Relaxed);
        if is_live {
            self.backlog.fetch_add(count, Ordering::Relaxed);
        }
        self.report_pending();
    }

    /// Subtracts `count` live notifications that were merged with others.
    pub(super) fn note_coalesced(&self, count: u64) {
        self.pending.fetch_sub(count, Ordering::Relaxed);
        self.backlog.fetch_sub(count, Ordering::Relaxed);
        self.coalesced.add(count);
        if let Some(series) = self.series.get() {
            series.coalesced.increment(count);
        }
        self.report_pending();
    }

    /// Warns if it falls behind.
    pub(super) fn note_backlog(&self) {
        let backlog = self.backlog.load(Ordering::Relaxed);
        if backlog > self.options.warning_at && !self.is_warned.swap(true, Ordering::Relaxed) {
            tracing::warn!(handler = %self.name, pending = backlog, "handler falls behind");
        }
    }

    pub(super) fn note_delivered(&self, is_live: bool) {
        self.pending.fetch_sub(1, Ordering::Relaxed);
        self.delivered.increment();
        if let Some(series) = self.series.get() {
            series.delivered.increment(1);
        }
        self.report_pending();
        if is_live {
            let backlog = self.backlog.fetch_sub(1, Ordering::Relaxed) - 1;
            if backlog <= self.options.warning_at / 2 {
                self.is_warned.store(false, Ordering::Relaxed);
            }
        }
    }

    /// The handler panicked on a notification of `key`.
    pub(super) fn note_panic(&self, key: &ObjectKey) {
        self.panics.increment();
        if let Some(series) = self.series.get() {
            series.panics.increment(1);
        }
        tracing::error!(handler = %self.name, key = %key, "handler panicked");
    }

    /// Returns the number of notifications that it has yet to receive. What is not delivered is still counted below: a
    /// thread may be left in a call.
    pub(super) fn pending(&self) -> u64 {
        if self.is_removed() || self.ended.is_set() {
            return 0;
        }
        self.pending.load(Ordering::Relaxed)
    }

    pub(super) fn metrics(&self) -> ListenerMetrics {
        ListenerMetrics {
            handler: Arc::clone(&self.name),
            pending: self.pending(),
            delivered: self.delivered.get(),
            coalesced: self.coalesced.get(),
            panics: self.panics.get(),
            has_synced: self.synced.is_set(),
        }
    }
}

// === impl EndGuard ===

impl Drop for EndGuard {
    fn drop(&mut self) {
        self.0.ended.set();
        self.0.report_pending();
    }
}
