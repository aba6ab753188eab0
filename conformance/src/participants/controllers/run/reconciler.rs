//! Reconciles of a controller, which do nothing but take time, and end as the plan says.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use informer::{Indexer, ObjectKey, workqueue::Action};
use thiserror::Error;
use tokio::{task::yield_now, time::sleep};

use super::{
    super::{ControllerPlan, QueueEvent, ReconcileOutcome},
    observed_queue::ObservedQueue,
};
use crate::{participants::states::state, trace::Key};

/// The state that the reconciles of a controller share.
pub(super) struct Reconciler<K> {
    queue: Arc<ObservedQueue>,
    indexer: Indexer<K>,
    plan: ControllerPlan,
    count: AtomicU32,
}

/// The failure of a reconcile.
#[derive(Clone, Copy, Debug, Error)]
#[error("a reconcile fails, as its plan says")]
pub(super) struct PlannedFailure;

/// A reconcile in progress. It is recorded as dropped if it is dropped before its end.
struct Running<'a> {
    queue: &'a ObservedQueue,
    key: Key,
    has_ended: bool,
}

// === impl Reconciler ===

impl<K: Send + Sync + 'static> Reconciler<K> {
    pub(super) fn new(
        queue: Arc<ObservedQueue>,
        indexer: Indexer<K>,
        plan: ControllerPlan,
    ) -> Self {
        Self {
            queue,
            indexer,
            plan,
            count: AtomicU32::new(0),
        }
    }

    /// Reads the cache, takes its time, and ends.
    ///
    /// # Cancel safety
    ///
    /// The drop is recorded.
    pub(super) async fn reconcile(&self, item: ObjectKey) -> Result<Action, PlannedFailure> {
        let number = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        let key = Key::from(item.to_string());
        let mut is_present = false;
        // The cache is read while no other task records, so that the trace has the state at this place.
        self.queue.record_with(|| {
            let cached = self.indexer.get(&item).as_ref().map(state);
            is_present = cached.is_some();
            QueueEvent::Begins {
                key: key.clone(),
                cached,
            }
        });
        let running = Running {
            queue: &self.queue,
            key,
            has_ended: false,
        };
        match self.plan.reconcile_ms {
            // A task that never waits would run out of its budget, and its worker would no longer look for items at once.
            0 => yield_now().await,
            time_ms => sleep(Duration::from_millis(time_ms)).await,
        }
        let is_due = |every: Option<u32>| every.is_some_and(|every| number.is_multiple_of(every));
        if is_due(self.plan.panic_every) {
            running.end(ReconcileOutcome::Panicked);
            // Not `panic!`: a planned panic is not for standard error.
            std::panic::resume_unwind(Box::new("a reconcile panics, as its plan says"));
        }
        if is_due(self.plan.fail_every) {
            running.end(ReconcileOutcome::Failed);
            return Err(PlannedFailure);
        }
        if let Some(after_ms) = self.plan.requeue_after_ms.filter(|_| is_present) {
            let after = Duration::from_millis(after_ms);
            running.end(ReconcileOutcome::RequeueAfter(after));
            return Ok(Action::RequeueAfter(after));
        }
        running.end(ReconcileOutcome::Done);
        Ok(Action::AwaitChange)
    }
}

// === impl Running ===

impl Running<'_> {
    fn end(mut self, outcome: ReconcileOutcome) {
        self.has_ended = true;
        self.record(outcome);
    }

    fn record(&self, outcome: ReconcileOutcome) {
        self.queue.record(QueueEvent::Ends {
            key: self.key.clone(),
            outcome,
        });
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if !self.has_ended {
            self.record(ReconcileOutcome::Dropped);
        }
    }
}
