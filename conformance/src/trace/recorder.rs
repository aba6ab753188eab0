//! Records the trace of a run, and notices hot loops.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::{sync::Notify, time::Instant};

use fakeserver::FakeServer;

use super::{Key, Observation, State, Trace};

/// The default limit of observations at one moment of simulated time. A paused clock stands still while anything can
/// run, so that a loop without a wait shows as steps without end.
const STEPS_AT_ONCE_MAX: usize = 5_000;

/// Returns the version and the content of a cache.
pub type CacheView = Box<dyn Fn() -> (Option<u64>, BTreeMap<Key, State>) + Send>;

/// Takes observations during a run, and reads the server and caches itself. It must not change the run.
pub trait Sink: Send {
    /// Takes an observation.
    fn observed(&mut self, at: Duration, observation: &Observation);

    /// Takes the server whose objects are the truth from now on.
    fn follow_server(&mut self, at: Duration, server: FakeServer);

    /// Takes a view of an informer's cache.
    fn follow_cache(&mut self, informer: usize, view: CacheView);
}

/// A sink and those who feed it.
pub type SharedSink = Arc<Mutex<dyn Sink>>;

/// Records a trace. Clones record in the same trace.
///
/// Too many observations at one moment *trip* the recorder: it records the hot loop once, ignores further observations,
/// and wakes the tasks in [`tripped`](Self::tripped).
#[derive(Clone, Debug)]
pub struct Recorder(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    began: Instant,
    steps_at_once_max: usize,
    written: Mutex<RecorderState>,
    has_tripped: Notify,
}

#[derive(Default)]
struct RecorderState {
    trace: Trace,
    sink: Option<SharedSink>,
    /// The moment of the steps.
    moment: Duration,
    step_count: usize,
    is_tripped: bool,
}

// === impl Recorder ===

impl Recorder {
    /// Creates a recorder whose time begins now.
    pub fn new() -> Self {
        Self::with_steps_at_once(0)
    }

    /// Creates a recorder whose time begins now and that accepts `count` observations at one moment.
    pub fn with_steps_at_once(count: usize) -> Self {
        Self(Arc::new(Shared {
            began: Instant::now(),
            steps_at_once_max: STEPS_AT_ONCE_MAX.max(count),
            written: Mutex::default(),
            has_tripped: Notify::new(),
        }))
    }

    /// Allows effects to come later than their causes by `lateness`, as in runs in real time, or more if more was allowed
    /// before.
    pub(crate) fn allow_lateness(&self, lateness: Duration) {
        self.written().trace.allow_lateness(lateness);
    }

    /// Returns the time by which effects may come after their causes: zero on the paused clock.
    pub(crate) fn lateness(&self) -> Duration {
        self.written().trace.lateness()
    }

    /// Gives each observation to a sink, too.
    #[must_use]
    pub(crate) fn with_sink(self, sink: Option<&SharedSink>) -> Self {
        self.written().sink = sink.cloned();
        self
    }

    /// Tells the sink, if there is one, of the server whose objects are the truth from now on.
    pub(crate) fn follow_server(&self, server: impl FnOnce() -> FakeServer) {
        let at = self.elapsed();
        if let Some(sink) = &self.written().sink {
            lock(sink).follow_server(at, server());
        }
    }

    /// Gives the sink, if there is one, a view of an informer's cache.
    pub(crate) fn follow_cache(&self, informer: usize, view: impl FnOnce() -> Option<CacheView>) {
        if let Some(sink) = &self.written().sink
            && let Some(view) = view()
        {
            lock(sink).follow_cache(informer, view);
        }
    }

    /// Records an observation with the time since the run began.
    pub fn record(&self, observation: impl Into<Observation>) {
        self.record_with(|| observation.into());
    }

    /// Records what `observe` returns. No other thread records meanwhile: readings of the same cell have the order in the
    /// trace in which they were made.
    ///
    /// `observe` must not record by itself.
    pub(crate) fn record_with(&self, observe: impl FnOnce() -> Observation) {
        let mut written = self.written();
        if written.is_tripped {
            return;
        }
        let observation = observe();
        let at = self.elapsed();
        if written.moment != at {
            written.moment = at;
            written.step_count = 0;
        }
        written.step_count += 1;
        written.push(at, observation);
        let limit = self.0.steps_at_once_max;
        if written.step_count > limit {
            drop(written);
            self.trip(format!("{limit} steps without time passing"));
        }
    }

    /// Ends the run because of a hot loop.
    pub fn trip(&self, text: String) {
        self.give_up(Observation::HotLoop { text });
    }

    /// Ends the run, with `last` as the last observation.
    pub fn give_up(&self, last: Observation) {
        let mut written = self.written();
        let at = self.elapsed();
        if !written.is_tripped {
            written.push(at, last);
            written.is_tripped = true;
            self.0.has_tripped.notify_waiters();
        }
    }

    /// Returns true if the run was ended: by a hot loop or a failed subject.
    pub fn is_tripped(&self) -> bool {
        self.written().is_tripped
    }

    /// Resolves when the run was ended.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost.
    pub async fn tripped(&self) {
        let notified = self.0.has_tripped.notified();
        let mut notified = std::pin::pin!(notified);
        // Listens before it looks: another thread may trip it in between.
        notified.as_mut().enable();
        if !self.is_tripped() {
            notified.await;
        }
    }

    /// Returns the simulated time since the run began.
    pub fn elapsed(&self) -> Duration {
        self.0.began.elapsed()
    }

    /// Takes the trace; the recorder continues with an empty one.
    pub fn take(&self) -> Trace {
        std::mem::take(&mut self.written().trace)
    }

    fn written(&self) -> MutexGuard<'_, RecorderState> {
        // Handlers that panic deliberately never hold it.
        self.0.written.lock().expect("no holder panics")
    }
}

// === impl RecorderState ===

impl RecorderState {
    fn push(&mut self, at: Duration, observation: Observation) {
        if let Some(sink) = &self.sink {
            lock(sink).observed(at, &observation);
        }
        self.trace.push(at, observation);
    }
}

impl fmt::Debug for RecorderState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Written")
            .field("moment", &self.moment)
            .field("step_count", &self.step_count)
            .field("is_tripped", &self.is_tripped)
            .finish_non_exhaustive()
    }
}

fn lock(sink: &SharedSink) -> MutexGuard<'_, dyn Sink + 'static> {
    sink.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Default for Recorder {
    fn default() -> Self {
        Self::new()
    }
}
