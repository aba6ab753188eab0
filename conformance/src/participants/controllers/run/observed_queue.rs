//! A work queue whose events are recorded.

use std::{
    collections::BTreeSet,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use informer::{
    ObjectKey,
    workqueue::{
        AddOptions, DelayedItems, WorkQueue, WorkQueueOptions, limiters::ItemExponentialFailure,
    },
};
use tokio::time::Instant;

use super::super::{ControllerEvent, ControllerPlan, QueueAction, QueueEvent, QueueState};
use crate::trace::{Key, Recorder};

/// The queue of a controller, on record.
pub(super) struct ObservedQueue {
    pub(super) queue: WorkQueue<ObjectKey>,
    informer: usize,
    controller: usize,
    recorder: Recorder,
    /// The items that were ever added.
    items: Mutex<BTreeSet<ObjectKey>>,
    has_stopped: AtomicBool,
}

// === impl ObservedQueue ===

impl ObservedQueue {
    /// Creates an empty queue with the options of a plan.
    pub(super) fn new(
        informer: usize,
        controller: usize,
        plan: &ControllerPlan,
        recorder: Recorder,
    ) -> Self {
        Self {
            queue: WorkQueue::with_options(options(plan)),
            informer,
            controller,
            recorder,
            items: Mutex::default(),
            has_stopped: AtomicBool::new(false),
        }
    }

    /// Records an event.
    pub(super) fn record(&self, event: QueueEvent) {
        self.record_with(|| event);
    }

    /// Records the event that `observe` returns. No other thread records meanwhile.
    pub(super) fn record_with(&self, observe: impl FnOnce() -> QueueEvent) {
        self.recorder.record_with(|| {
            ControllerEvent {
                informer: self.informer,
                controller: self.controller,
                event: observe(),
            }
            .into()
        });
    }

    /// Remembers that `item` is added.
    pub(super) fn note(&self, item: &ObjectKey) {
        let mut items = self.items.lock().expect("no holder panics");
        if !items.contains(item) {
            items.insert(item.clone());
        }
    }

    /// Performs an action on an item.
    pub(super) fn operate(&self, item: &ObjectKey, action: QueueAction) {
        self.note(item);
        let (queue, mut has_cancelled) = (&self.queue, false);
        match action {
            QueueAction::Add(priority) => {
                let options = AddOptions::new().with_priority(priority);
                queue.add_with(item.clone(), options);
            }
            QueueAction::AddAfter(delay_ms) => {
                queue.add_after(item.clone(), Duration::from_millis(delay_ms));
            }
            QueueAction::AddRateLimited => queue.add_rate_limited(item.clone()),
            QueueAction::CancelDelayed => has_cancelled = queue.cancel_delayed(item),
            QueueAction::Forget => queue.forget(item),
        }
        self.record(QueueEvent::Operated {
            key: Key::from(item.to_string()),
            action,
            has_cancelled,
        });
    }

    /// Records what the queue tells of its items, unless the controller has stopped.
    pub(super) fn observe(&self) {
        if !self.has_stopped.load(Ordering::Relaxed) {
            self.record_with(|| QueueEvent::Stands(self.standing()));
        }
    }

    /// Records that the controller has stopped.
    pub(super) fn record_stop(&self) {
        self.record(QueueEvent::Stopped);
        self.has_stopped.store(true, Ordering::Relaxed);
    }

    /// Returns true if no item is queued or being processed, or the controller has stopped.
    pub(super) fn is_idle(&self) -> bool {
        self.has_stopped.load(Ordering::Relaxed)
            || (self.queue.is_empty() && self.queue.processing_len() == 0)
    }

    fn standing(&self) -> QueueState {
        let (now, elapsed) = (Instant::now(), self.recorder.elapsed());
        let delayed = self.queue.delayed().into_iter().map(|(item, due)| {
            let due = elapsed + due.saturating_duration_since(now);
            (Key::from(item.to_string()), due)
        });
        let mut delayed: Vec<(Key, Duration)> = delayed.collect();
        delayed.sort_unstable();
        let items = self.items.lock().expect("no holder panics");
        QueueState {
            queued_count: self.queue.len(),
            processing_count: self.queue.processing_len(),
            delayed,
            failure_count: items.iter().map(|item| self.queue.num_requeues(item)).sum(),
        }
    }
}

fn options(plan: &ControllerPlan) -> WorkQueueOptions<ObjectKey> {
    let limiter = ItemExponentialFailure::new(
        Duration::from_millis(plan.retry_base_ms),
        Duration::from_millis(plan.retry_max_ms),
    );
    let options = WorkQueueOptions::new()
        .with_rate_limiter(limiter)
        .with_delayed_items(if plan.merges_delayed {
            DelayedItems::Merged
        } else {
            DelayedItems::Independent
        });
    match plan.fair_share {
        Some(fair_share) => options.with_fair_share(fair_share),
        None => options.with_strict_priority(),
    }
}
