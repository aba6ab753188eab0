//! The handlers of one informer, each in the form that its plan says.

use std::{
    collections::BTreeMap,
    sync::{Arc, Weak},
    time::Duration,
};

use futures::FutureExt;
use informer::{
    Buffer, HandlerEnd, HandlerOptions, HandlerRegistration, ListenerMetrics, SharedInformer,
};
use tokio::time::timeout;

use super::{
    adapters::{AnyHandler, FilteredHandler},
    contents::Contents,
    handler_fold::HandlerFold,
    handler_syncs::HandlerSyncs,
    paced_handler::{BlockingHandler, PacedHandler, ReadingFlag, StreamReader},
    recording_handler::{RecordingHandler, Registration, lock},
    reports,
};
use crate::{
    bugs::{Bug, BuggyHandler},
    participants::{Adapter, HandlerPlan},
    task::TaskSet,
    trace::{Key, Observation, Part, Recorder, State},
};

/// The time for removals to end once the informer has stopped.
const REMOVAL_LIMIT: Duration = Duration::from_secs(10);

/// The time for which a removal or a shutdown waits for a handler that blocks its thread: longer than all of its calls take,
/// on a busy machine.
const BLOCKING_LIMIT: Duration = Duration::from_secs(30);

/// The handlers of one informer that are registered, and the readers of its streams. They end with this.
pub(super) struct Handlers<K> {
    informer: usize,
    recorder: Recorder,
    contents: Contents<K>,
    bug: Option<Bug>,
    syncs: HandlerSyncs,
    joined: BTreeMap<usize, JoinedHandler>,
    readers: BTreeMap<usize, (ReadingFlag, TaskSet)>,
    removals: TaskSet,
    /// Held by each handler for as long as it exists.
    held: Arc<()>,
}

/// A handler that is called.
struct JoinedHandler {
    registration: Registration,
    /// Held by a handler that is awaited, and once more by its call.
    call: Weak<()>,
    fold: HandlerFold,
    is_slow: bool,
    is_removal_awaited: bool,
    panic_every: Option<u32>,
}

// === impl JoinedHandler ===

impl JoinedHandler {
    /// Compares what a registration tells of its handler with the plan, and with what its informer tells; `None` if they agree.
    fn difference(
        &self,
        registration: &HandlerRegistration,
        handler: usize,
        listeners: &[ListenerMetrics],
    ) -> Option<String> {
        let name = reports::handler_name(handler);
        if registration.name() != name {
            return Some(format!("is named {}", registration.name()));
        }
        let own = registration.metrics();
        let panic_count = self
            .panic_every
            .map_or(0, |every| own.delivered / u64::from(every));
        if own.panics != panic_count {
            return Some(format!("want {panic_count} panics, got {own:?}"));
        }
        let of_informer = listeners.iter().find(|listener| *listener.handler == *name);
        // An informer that has not begun does not know its handlers yet.
        let is_known = of_informer.is_some() || own.delivered > 0 || own.has_synced;
        let want = Some(&own).filter(|_| is_known && registration.end().is_none());
        (of_informer != want).then(|| format!("want {want:?}, got {of_informer:?}"))
    }
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
            joined: BTreeMap::new(),
            readers: BTreeMap::new(),
            removals: TaskSet::new(),
            held: Arc::default(),
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
        let registration = Registration::default();
        let fold = HandlerFold::default();
        let call = Arc::new(());
        let joined_call = Arc::downgrade(&call);
        let recording = RecordingHandler {
            informer: self.informer,
            handler,
            indexer: informer.indexer(),
            recorder: self.recorder.clone(),
            contents: self.contents.clone(),
            syncs: self.syncs.clone(),
            fold: fold.clone(),
            plan: plan.clone(),
            heard_count: 0,
            cause: None,
            registration: Arc::clone(&registration),
            _held: Arc::clone(&self.held),
        };
        let innermost = match plan.adapter {
            Some(Adapter::Closures) => AnyHandler::of_closures(recording),
            _ => AnyHandler::new(recording),
        };
        let buggy = BuggyHandler::new(innermost, self.bug, informer.has_synced());
        let outermost = match plan.adapter {
            Some(Adapter::Filter) => {
                let recorder = self.recorder.clone();
                AnyHandler::new(FilteredHandler::new(
                    buggy,
                    self.informer,
                    handler,
                    recorder,
                ))
            }
            _ => AnyHandler::new(buggy),
        };
        if plan.is_stream {
            let is_reading = ReadingFlag::new();
            let reader = StreamReader {
                handler,
                inner: outermost,
                delay: plan.delay_ms.map(Duration::from_millis),
                leave_at_count: plan.leave_at_count,
                syncs: self.syncs.clone(),
                is_reading: is_reading.clone(),
            };
            let reading = reader.read(informer.stream_with(options(handler, plan)));
            let task = TaskSet::of(reading);
            self.readers.insert(handler, (is_reading, task));
            return;
        }
        // On other threads the handler may be called at once, and waits for its registration then.
        let mut registered = lock(&registration);
        *registered = Some(register(informer, handler, outermost, plan, call));
        drop(registered);
        let joined = JoinedHandler {
            registration,
            call: joined_call,
            fold,
            is_slow: plan.delay_ms.or(plan.block_ms).is_some(),
            is_removal_awaited: plan.is_removal_awaited,
            panic_every: plan.panic_every,
        };
        self.joined.insert(handler, joined);
    }

    /// Removes a handler: by dropping its registration, or in a task that waits for its end.
    pub(super) fn leave(&mut self, handler: usize) {
        if let Some((is_reading, task)) = self.readers.remove(&handler) {
            // On other threads the task may go on for a while after it was aborted.
            is_reading.end();
            drop(task);
        }
        let Some(joined) = self.joined.remove(&handler) else {
            return;
        };
        let registration = lock(&joined.registration).take();
        if let Some(registration) = registration
            && joined.is_removal_awaited
        {
            let (informer, recorder) = (self.informer, self.recorder.clone());
            let mut removing = Box::pin(registration.remove());
            // Removes it now; only the wait is left to the task.
            let is_over = removing.as_mut().now_or_never().is_some();
            self.removals.spawn(async move {
                if !is_over {
                    removing.await;
                }
                if joined.call.strong_count() > 1 {
                    let name = handler.to_string();
                    recorder.record(unremoved(informer, &name, "is called after its removal"));
                }
            });
        }
    }

    /// Returns true if those that are called, and take no time, have synced and know of exactly these states.
    pub(super) fn have_heard(&self, held: &BTreeMap<Key, State>) -> bool {
        self.joined
            .values()
            .filter(|joined| !joined.is_slow)
            .all(|joined| match &*lock(&joined.registration) {
                Some(registration) => registration.has_synced() && joined.fold.is(held),
                None => true,
            })
    }

    /// Returns the number of handlers that exist, those that have left included.
    pub(super) fn held_count(&self) -> usize {
        Arc::strong_count(&self.held) - 1
    }

    /// Records which of them have synced, and of which `informer` tells something else than they do.
    pub(super) fn observe(&self, informer: &SharedInformer<K>) {
        let listeners = informer.metrics().listeners;
        for (handler, joined) in &self.joined {
            if let Some(registration) = &*lock(&joined.registration) {
                self.syncs.see(*handler, || registration.has_synced());
                if let Some(text) = joined.difference(registration, *handler, &listeners) {
                    self.recorder.record(Observation::Differs {
                        informer: self.informer,
                        part: Part::Report,
                        name: reports::handler_name(*handler),
                        text,
                    });
                }
            }
        }
    }

    /// Waits until the readers of streams have read all that there is, once the informer has stopped.
    pub(super) async fn ended(&mut self) {
        for (_, reader) in std::mem::take(&mut self.readers).into_values() {
            reader.wait().await;
        }
        let removals = std::mem::take(&mut self.removals);
        if timeout(REMOVAL_LIMIT, removals.wait()).await.is_err() {
            let text = "is removed without end";
            self.recorder.record(unremoved(self.informer, "some", text));
        }
        for (handler, joined) in &self.joined {
            if let Some(registration) = &*lock(&joined.registration) {
                self.syncs.see(*handler, || registration.has_synced());
                if let Some(text) = untrue_end(registration) {
                    let name = handler.to_string();
                    self.recorder.record(unremoved(self.informer, &name, &text));
                }
            }
        }
    }
}

/// Describes the end of a handler that is registered still, if that is not the stop of its informer.
fn untrue_end(registration: &HandlerRegistration) -> Option<String> {
    let end = registration.ended().now_or_never();
    let is_true = matches!(&end, Some(HandlerEnd::Stopped { handler }) if **handler == *registration.name())
        && end == registration.end()
        && !end.as_ref().is_some_and(HandlerEnd::is_overflow);
    (!is_true).then(|| format!("has ended by {end:?}, not by the stop"))
}

/// Registers a handler that is called, in the way that its plan says.
fn register<K: Send + Sync + 'static>(
    informer: &SharedInformer<K>,
    handler: usize,
    inner: AnyHandler<K>,
    plan: &HandlerPlan,
    call: Arc<()>,
) -> HandlerRegistration {
    let options = options(handler, plan);
    let millis = Duration::from_millis;
    match (plan.delay_ms.map(millis), plan.block_ms.map(millis)) {
        (Some(delay), _) => {
            informer.add_async_handler_with(PacedHandler { inner, delay, call }, options)
        }
        (None, Some(time)) => {
            let options = options.with_blocking(BLOCKING_LIMIT);
            informer.add_handler_with(BlockingHandler { inner, time, call }, options)
        }
        (None, None) => informer.add_handler_with(inner, options),
    }
}

fn unremoved(informer: usize, handler: &str, text: &str) -> Observation {
    Observation::Differs {
        informer,
        part: Part::Handler,
        name: handler.to_owned(),
        text: text.to_owned(),
    }
}

fn options(handler: usize, plan: &HandlerPlan) -> HandlerOptions {
    let mut options = HandlerOptions::default().with_name(reports::handler_name(handler));
    if let Some(resync_ms) = plan.resync_ms {
        options = options.with_resync_period(Duration::from_millis(resync_ms));
    }
    if let Some(limit) = plan.buffer_max {
        options = options.with_buffer(Buffer::Coalescing { limit });
    }
    options
}
