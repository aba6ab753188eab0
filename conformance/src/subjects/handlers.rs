//! The handlers of one informer, each in the form that its plan says.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use informer::{Buffer, HandlerOptions, SharedInformer};

use super::{
    contents::Contents,
    handler_syncs::HandlerSyncs,
    paced_handler::{PacedHandler, StreamReader},
    recording_handler::{RecordingHandler, Registration, lock},
};
use crate::{
    bugs::{Bug, BuggyHandler},
    plan::HandlerPlan,
    task::TaskSet,
    trace::Recorder,
};

/// The handlers of one informer that are registered, and the readers of its streams. They end with this.
pub(super) struct Handlers<K> {
    informer: usize,
    recorder: Recorder,
    contents: Contents<K>,
    bug: Option<Bug>,
    syncs: HandlerSyncs,
    registrations: BTreeMap<usize, Registration>,
    readers: BTreeMap<usize, TaskSet>,
}

// === impl Handlers ===

impl<K: Send + Sync + 'static> Handlers<K> {
    /// Creates an empty set.
    pub(super) fn new(
        informer: usize,
        contents: Contents<K>,
        bug: Option<Bug>,
        recorder: Recorder,
    ) -> Self {
        Self {
            informer,
            contents,
            bug,
            syncs: HandlerSyncs::new(informer, recorder.clone()),
            registrations: BTreeMap::new(),
            readers: BTreeMap::new(),
            recorder,
        }
    }

    /// Adds a handler to `informer`.
    pub(super) fn join(
        &mut self,
        informer: &SharedInformer<K>,
        handler: usize,
        plan: &HandlerPlan,
    ) {
        let options = options(plan);
        let delay = plan.delay_ms.map(Duration::from_millis);
        let registration = Registration::default();
        let recording = RecordingHandler {
            informer: self.informer,
            handler,
            indexer: informer.indexer(),
            recorder: self.recorder.clone(),
            contents: self.contents.clone(),
            syncs: self.syncs.clone(),
            plan: plan.clone(),
            heard_count: 0,
            cause: None,
            registration: Arc::clone(&registration),
        };
        let buggy = BuggyHandler::new(recording, self.bug, informer.has_synced());
        if plan.is_stream {
            let reader = StreamReader {
                handler,
                inner: buggy,
                delay,
                leave_at_count: plan.leave_at_count,
                syncs: self.syncs.clone(),
            };
            let reading = reader.read(informer.stream_with(options));
            self.readers.insert(handler, TaskSet::of(reading));
            return;
        }
        let registered = match delay {
            Some(delay) => {
                let inner = buggy;
                informer.add_async_handler_with(PacedHandler { inner, delay }, options)
            }
            None => informer.add_handler_with(buggy, options),
        };
        // No handler is called before this task yields.
        *lock(&registration) = Some(registered);
        self.registrations.insert(handler, registration);
    }

    /// Removes a handler.
    pub(super) fn leave(&mut self, handler: usize) {
        drop(self.readers.remove(&handler));
        let registration = self.registrations.remove(&handler);
        drop(registration.and_then(|registration| lock(&registration).take()));
    }

    /// Records which of them have synced.
    pub(super) fn observe(&self) {
        for (handler, registration) in &self.registrations {
            if let Some(registration) = &*lock(registration) {
                self.syncs.see(*handler, registration.has_synced());
            }
        }
    }

    /// Waits until the readers of streams have read all that there is, once the informer has stopped.
    pub(super) async fn ended(&mut self) {
        for (_, reader) in std::mem::take(&mut self.readers) {
            reader.wait().await;
        }
        self.observe();
    }
}

fn options(plan: &HandlerPlan) -> HandlerOptions {
    let mut options = HandlerOptions::default();
    if let Some(resync_ms) = plan.resync_ms {
        options = options.with_resync_period(Duration::from_millis(resync_ms));
    }
    if let Some(limit) = plan.buffer_max {
        options = options.with_buffer(Buffer::Coalescing { limit });
    }
    options
}
