//! What is known of one listener from outside its task, whatever the type of its objects.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use tokio::sync::Notify;

use super::HandlerOptions;
use crate::{latch::Latch, metrics::Counter};

/// What one handler has heard and has yet to hear.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListenerMetrics {
    /// The handler's name.
    pub handler: Arc<str>,
    /// `informer_pending_notifications`: how many it has yet to hear.
    pub pending: u64,
    /// How many it has heard.
    pub delivered: u64,
    /// How many of them it panicked on.
    pub panics: u64,
    /// Whether it has heard the initial state.
    pub has_synced: bool,
}

/// Shared by a listener, its task and its registration.
#[derive(Debug)]
pub(super) struct Control {
    pub(super) name: Arc<str>,
    pub(super) options: HandlerOptions,
    /// Wakes the listener's task.
    pub(super) wake: Notify,
    /// The handler has heard the initial state.
    pub(super) synced: Latch,
    /// The task has ended, or never will run.
    pub(super) ended: Latch,
    is_removed: AtomicBool,
    has_begun: AtomicBool,
    is_initial_state_queued: AtomicBool,
    pending: AtomicU64,
    /// Those of `pending` that are live changes.
    backlog: AtomicU64,
    is_warned: AtomicBool,
    delivered: Counter,
    panics: Counter,
}

/// Says that a listener's task has ended, also when it was dropped before it ran.
pub(super) struct EndGuard(pub(super) Arc<Control>);

// === impl Control ===

impl Control {
    pub(super) fn new(name: Arc<str>, options: HandlerOptions) -> Self {
        Self {
            name,
            options,
            wake: Notify::new(),
            synced: Latch::default(),
            ended: Latch::default(),
            is_removed: AtomicBool::new(false),
            has_begun: AtomicBool::new(false),
            is_initial_state_queued: AtomicBool::new(false),
            pending: AtomicU64::new(0),
            backlog: AtomicU64::new(0),
            is_warned: AtomicBool::new(false),
            delivered: Counter::default(),
            panics: Counter::default(),
        }
    }

    /// No call begins after this; one that runs is not waited for.
    pub(super) fn remove(&self) {
        self.is_removed.store(true, Ordering::SeqCst);
        self.wake.notify_one();
    }

    pub(super) fn is_removed(&self) -> bool {
        self.is_removed.load(Ordering::SeqCst)
    }

    /// The task runs: from here on it looks whether the handler is removed before each call.
    pub(super) fn note_begun(&self) {
        self.has_begun.store(true, Ordering::SeqCst);
    }

    /// Whether a call may be running. Asked after a removal, in one order with it: if the task has not begun by then, it will
    /// find the handler removed before its first call.
    pub(super) fn may_be_calling(&self) -> bool {
        self.has_begun.load(Ordering::SeqCst) && !self.ended.is_set()
    }

    pub(super) fn note_initial_state_queued(&self) {
        self.is_initial_state_queued.store(true, Ordering::Release);
    }

    pub(super) fn is_initial_state_queued(&self) -> bool {
        self.is_initial_state_queued.load(Ordering::Acquire)
    }

    pub(super) fn note_queued(&self, count: u64, is_live: bool) {
        self.pending.fetch_add(count, Ordering::Relaxed);
        if !is_live {
            return;
        }
        let backlog = self.backlog.fetch_add(count, Ordering::Relaxed) + count;
        if backlog > self.options.warning_at && !self.is_warned.swap(true, Ordering::Relaxed) {
            tracing::warn!(handler = %self.name, pending = backlog, "handler falls behind");
        }
    }

    pub(super) fn note_delivered(&self, is_live: bool) {
        self.pending.fetch_sub(1, Ordering::Relaxed);
        self.delivered.increment();
        if is_live {
            let backlog = self.backlog.fetch_sub(1, Ordering::Relaxed) - 1;
            if backlog <= self.options.warning_at / 2 {
                self.is_warned.store(false, Ordering::Relaxed);
            }
        }
    }

    pub(super) fn note_panic(&self) {
        self.panics.increment();
    }

    pub(super) fn pending(&self) -> u64 {
        self.pending.load(Ordering::Relaxed)
    }

    pub(super) fn metrics(&self) -> ListenerMetrics {
        ListenerMetrics {
            handler: Arc::clone(&self.name),
            pending: self.pending(),
            delivered: self.delivered.get(),
            panics: self.panics.get(),
            has_synced: self.synced.is_set(),
        }
    }
}

// === impl EndGuard ===

impl Drop for EndGuard {
    fn drop(&mut self) {
        self.0.pending.store(0, Ordering::Relaxed);
        self.0.ended.set();
    }
}
