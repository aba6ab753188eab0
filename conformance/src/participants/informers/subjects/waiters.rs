//! Tasks that wait for a subject's cache to be complete, like parts of a program.

use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use crate::{
    task::TaskSet,
    trace::{Observation, Recorder},
};

/// The waiting tasks, which end with this.
#[derive(Debug)]
pub(super) struct Waiters {
    informer: usize,
    recorder: Recorder,
    tasks: TaskSet,
    woken_count: Arc<AtomicUsize>,
}

// === impl Waiters ===

impl Waiters {
    /// Creates an empty set.
    pub(super) fn new(informer: usize, recorder: Recorder) -> Self {
        Self {
            informer,
            recorder,
            tasks: TaskSet::new(),
            woken_count: Arc::default(),
        }
    }

    /// Adds a task that waits until `complete` resolves.
    pub(super) fn add(&mut self, complete: impl Future<Output = ()> + Send + 'static) {
        let woken_count = Arc::clone(&self.woken_count);
        self.tasks.spawn(async move {
            complete.await;
            woken_count.fetch_add(1, Ordering::Relaxed);
        });
    }

    /// Records how many tasks still wait, if there are any, and aborts them.
    pub(super) fn stop(&mut self) {
        let woken_count = self.woken_count.load(Ordering::Relaxed);
        let waiting_count = self.tasks.len() - woken_count;
        if !self.tasks.is_empty() {
            self.recorder.record(Observation::Waited {
                informer: self.informer,
                woken_count,
                waiting_count,
            });
        }
        self.tasks.abort();
    }
}
