//! Tasks that wait until a cache shows a version, as code does that reads its own writes.

use std::{
    collections::BTreeSet,
    future::Future,
    sync::{Arc, Mutex},
};

use crate::{
    task::TaskSet,
    trace::{Observation, Recorder},
};

/// The waiting tasks of one informer, which end with this.
#[derive(Debug)]
pub(super) struct VersionWaits {
    informer: usize,
    recorder: Recorder,
    tasks: TaskSet,
    count: usize,
    /// The version and the number of each wait that has not ended.
    open: Arc<Mutex<BTreeSet<(u64, usize)>>>,
}

// === impl VersionWaits ===

impl VersionWaits {
    /// Creates an empty set.
    pub(super) fn new(informer: usize, recorder: Recorder) -> Self {
        Self {
            informer,
            recorder,
            tasks: TaskSet::new(),
            count: 0,
            open: Arc::default(),
        }
    }

    /// Adds a task that waits for `revision` until `reached` resolves, with the version of the cache at that moment; `None` if
    /// the wait failed.
    pub(super) fn add(
        &mut self,
        revision: u64,
        reached: impl Future<Output = Option<u64>> + Send + 'static,
    ) {
        let (informer, wait, recorder) = (self.informer, self.count, self.recorder.clone());
        self.count += 1;
        recorder.record(Observation::WaitBegins {
            informer,
            wait,
            revision,
        });
        let open = Arc::clone(&self.open);
        open.lock()
            .expect("no holder panics")
            .insert((revision, wait));
        self.tasks.spawn(async move {
            let reached = reached.await;
            recorder.record(Observation::WaitEnds {
                informer,
                wait,
                shown: reached,
            });
            open.lock()
                .expect("no holder panics")
                .remove(&(revision, wait));
        });
    }

    /// Returns true if a pending wait ends at this version of the cache.
    pub(super) fn is_any_due(&self, reached: Option<u64>) -> bool {
        let open = self.open.lock().expect("no holder panics");
        let first = open.first();
        first.is_some_and(|(revision, _)| Some(*revision) <= reached)
    }

    /// Aborts the tasks that still wait.
    pub(super) fn stop(&mut self) {
        self.tasks.abort();
    }
}
