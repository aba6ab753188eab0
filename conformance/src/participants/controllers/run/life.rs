//! The life of a controller, from its start to its end.

use std::{
    future::{Future, pending},
    pin::pin,
    sync::Arc,
    time::Duration,
};

use informer::{
    ObjectKey, SharedInformer,
    workqueue::{DrainResult, Workers, WorkersOptions},
};
use tokio::{
    select,
    sync::oneshot,
    task::yield_now,
    time::{Instant, sleep, sleep_until},
};

use super::{
    super::{ControllerPlan, QueueEvent, QueueStop},
    observed_queue::ObservedQueue,
    reconciler::Reconciler,
    recording_enqueue::RecordingEnqueue,
};
use crate::plan::Resource;

/// The number of yields in which new workers get to their queue: the scheduler polls some sixty other tasks in each.
const ARRIVAL: usize = 16;

/// A controller whose workers have started.
pub(super) struct Life<K> {
    informer: SharedInformer<K>,
    queue: Arc<ObservedQueue>,
    plan: ControllerPlan,
    resource: Resource,
    began: Instant,
    workers: Workers<ObjectKey>,
}

// === impl Life ===

impl<K: Send + Sync + 'static> Life<K> {
    /// Starts the workers.
    pub(super) fn begin(
        informer: SharedInformer<K>,
        queue: Arc<ObservedQueue>,
        plan: ControllerPlan,
        resource: Resource,
    ) -> Self {
        queue.record(QueueEvent::Starts(Box::new(plan.clone())));
        let mut options = WorkersOptions::new(plan.worker_count.get());
        if let Some(retries_max) = plan.retries_max {
            options = options.with_retries_max(retries_max);
        }
        let reconciler = Reconciler::new(Arc::clone(&queue), informer.indexer(), plan.clone());
        let reconciler = Arc::new(reconciler);
        let workers = Workers::start(&queue.queue, options, move |item| {
            let reconciler = Arc::clone(&reconciler);
            async move { reconciler.reconcile(item).await }
        });
        Self {
            informer,
            queue,
            plan,
            resource,
            began: Instant::now(),
            workers,
        }
    }

    /// Performs the operations of the plan, until it is time to stop or `stopped` resolves, and stops.
    pub(super) async fn live(self, stopped: oneshot::Receiver<()>) {
        // A worker that has not arrived yet would take another item than one that waits.
        for _ in 0..ARRIVAL {
            yield_now().await;
        }
        let registration = self
            .informer
            .add_handler(RecordingEnqueue::<K>::new(&self.queue));
        select! {
            biased;
            _ = stopped => {}
            () = self.act() => {}
        }
        let Self {
            queue,
            plan,
            workers,
            ..
        } = self;
        // Recorded first: from this moment the model expects no new item.
        queue.record(QueueEvent::Stops(plan.stop));
        stop(&queue, &plan, workers).await;
        // The handler is removed last, so that it may add to a closed queue: that has to be harmless.
        queue.observe();
        drop(registration);
        queue.record_stop();
    }

    /// Performs the operations, and resolves when it is time to stop.
    async fn act(&self) {
        for operation in &self.plan.operations {
            self.until(operation.at_ms).await;
            let slot = operation.slot;
            let namespace = self.resource.namespace(slot).unwrap_or_default();
            let item = ObjectKey::new(namespace, self.resource.name(slot));
            self.queue.operate(&item, operation.action);
        }
        match self.plan.stop_ms {
            Some(stop_ms) => self.until(stop_ms).await,
            None => pending().await,
        }
    }

    async fn until(&self, at_ms: u64) {
        let later_ms = at_ms.saturating_sub(self.plan.start_ms);
        sleep_until(self.began + Duration::from_millis(later_ms)).await;
    }
}

/// Stops the workers as the plan says.
async fn stop(queue: &ObservedQueue, plan: &ControllerPlan, workers: Workers<ObjectKey>) {
    match plan.stop {
        QueueStop::Drain => {
            // The queue's own drain, which does not wait for the ends of workers.
            drain(queue, plan, queue.queue.shut_down_with_drain()).await;
            workers.shutdown().await;
        }
        QueueStop::ShutDown => {
            queue.queue.shut_down();
            drain(queue, plan, workers.shutdown()).await;
        }
        QueueStop::Now => {
            queue.queue.shut_down_now();
            drain(queue, plan, workers.shutdown()).await;
        }
        QueueStop::Abort => workers.abort().await,
    }
}

/// Waits for a drain, which a plain shutdown ends in some plans.
async fn drain(
    queue: &ObservedQueue,
    plan: &ControllerPlan,
    draining: impl Future<Output = DrainResult>,
) {
    let release = async {
        match plan.release_after_ms.map(Duration::from_millis) {
            Some(after) => sleep(after).await,
            None => pending().await,
        }
    };
    let mut draining = pin!(draining);
    let early = select! {
        biased;
        drained = &mut draining => Some(drained),
        () = release => None,
    };
    let drained = if let Some(drained) = early {
        drained
    } else {
        queue.record(QueueEvent::Releases);
        queue.queue.shut_down();
        draining.await
    };
    let is_all = drained == DrainResult::All;
    queue.record(QueueEvent::Drained { is_all });
}
