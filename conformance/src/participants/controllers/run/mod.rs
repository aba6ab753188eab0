//! The controllers of an informer in a run. The events of a queue are recorded where they happen, so that a model of the queue can
//! follow.

mod observed_queue;
mod recording_enqueue;
mod reconciler;
mod life;

use std::{collections::BTreeMap, sync::Arc};

use informer::SharedInformer;
use tokio::sync::oneshot;

use self::{life::Life, observed_queue::ObservedQueue};
use super::ControllerPlan;
use crate::{plan::Resource, task::TaskSet, trace::Recorder};

/// The controllers of one informer. They end with this.
pub(crate) struct Controllers {
    informer: usize,
    recorder: Recorder,
    started: BTreeMap<usize, StartedController>,
}

/// A controller that was started.
struct StartedController {
    queue: Arc<ObservedQueue>,
    /// Its drop tells the controller to stop.
    stop: oneshot::Sender<()>,
    life: TaskSet,
}

// === impl Controllers ===

impl Controllers {
    /// Creates an empty set.
    pub(crate) fn new(informer: usize, recorder: Recorder) -> Self {
        Self {
            informer,
            recorder,
            started: BTreeMap::new(),
        }
    }

    /// Starts a controller of the objects of `informer`.
    pub(crate) fn start<K: Send + Sync + 'static>(
        &mut self,
        informer: &SharedInformer<K>,
        controller: usize,
        plan: &ControllerPlan,
        resource: Resource,
    ) {
        let queue = ObservedQueue::new(self.informer, controller, plan, self.recorder.clone());
        let queue = Arc::new(queue);
        let (stop, stopped) = oneshot::channel();
        let life = Life::begin(informer.clone(), Arc::clone(&queue), plan.clone(), resource);
        let started = StartedController {
            queue,
            stop,
            life: TaskSet::of(life.live(stopped)),
        };
        self.started.insert(controller, started);
    }

    /// Returns true if no item of those that run is queued or being processed.
    pub(crate) fn are_idle(&self) -> bool {
        let mut started = self.started.values();
        started.all(|started| started.queue.is_idle())
    }

    /// Records the items of the queues of those that run.
    pub(crate) fn observe(&self) {
        for started in self.started.values() {
            started.queue.observe();
        }
    }

    /// Stops those that still run, in the ways of their plans, and waits until they have stopped.
    pub(crate) async fn stop(&mut self) {
        for (_, StartedController { stop, life, .. }) in std::mem::take(&mut self.started) {
            drop(stop);
            life.wait().await;
        }
    }
}
