//! Tasks that wait for a subject's cache to be complete, as the parts of a program do.

use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use tokio::task::JoinSet;

use crate::trace::{Observation, Recorder};

/// The tasks that wait; they end with this.
#[derive(Debug)]
pub(super) struct Waiters {
    informer: usize,
    recorder: Recorder,
    tasks: JoinSet<()>,
    woken_count: Arc<AtomicUsize>,
}

// === impl Waiters ===

impl Waiters {
    /// Nobody waits yet.
    pub(super) fn new(informer: usize, recorder: Recorder) -> Self {
        Self {
            informer,
            recorder,
            tasks: JoinSet::new(),
            woken_count: Arc::default(),
        }
    }

    /// One more task waits until `complete` resolves.
    pub(super) fn add(&mut self, complete: impl Future<Output = ()> + Send + 'static) {
        let woken_count = Arc::clone(&self.woken_count);
        self.tasks.spawn(async move {
            complete.await;
            woken_count.fetch_add(1, Ordering::Relaxed);
        });
    }

    /// Records how many of them still wait, if there ever were any, and ends them.
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
        self.tasks.abort_all();
    }
}
