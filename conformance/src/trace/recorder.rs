//! Writes a trace while a run goes on, and notices when time stands still.

use std::{
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use tokio::{sync::Notify, time::Instant};

use super::{Observation, Trace};

/// How many observations may be made at one moment of simulated time, where nobody says. A paused clock stands still while
/// anything can run, so that a loop without a wait shows as steps without end.
const STEPS_AT_ONCE_MAX: usize = 5_000;

/// Writes a trace: shared by all who observe.
///
/// When too much is observed at one moment the recorder is *tripped*: it says so in the trace once and takes down nothing
/// more, and whoever waits in [`tripped`](Self::tripped) goes on.
#[derive(Clone, Debug)]
pub struct Recorder(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    began: Instant,
    steps_at_once_max: usize,
    written: Mutex<Written>,
    has_tripped: Notify,
}

#[derive(Debug, Default)]
struct Written {
    trace: Trace,
    /// The moment that steps are counted at.
    moment: Duration,
    step_count: usize,
    is_tripped: bool,
}

// === impl Recorder ===

impl Recorder {
    /// A recorder whose time begins now.
    pub fn new() -> Self {
        Self::with_steps_at_once(0)
    }

    /// A recorder whose time begins now, for a run in which `count` observations at one moment are no loop.
    pub fn with_steps_at_once(count: usize) -> Self {
        Self(Arc::new(Shared {
            began: Instant::now(),
            steps_at_once_max: STEPS_AT_ONCE_MAX.max(count),
            written: Mutex::default(),
            has_tripped: Notify::new(),
        }))
    }

    /// Adds an observation, stamped with the time since the run began.
    pub fn record(&self, observation: Observation) {
        let at = self.elapsed();
        let mut written = self.written();
        if written.is_tripped {
            return;
        }
        if written.moment != at {
            written.moment = at;
            written.step_count = 0;
        }
        written.step_count += 1;
        written.trace.push(at, observation);
        let limit = self.0.steps_at_once_max;
        if written.step_count > limit {
            drop(written);
            self.trip(format!("{limit} steps without time passing"));
        }
    }

    /// Ends the run: something goes round and round.
    pub fn trip(&self, text: String) {
        self.give_up(Observation::HotLoop { text });
    }

    /// Ends the run, of which `last` is the last thing that is recorded.
    pub fn give_up(&self, last: Observation) {
        let at = self.elapsed();
        let mut written = self.written();
        if !written.is_tripped {
            written.trace.push(at, last);
            written.is_tripped = true;
            self.0.has_tripped.notify_waiters();
        }
    }

    /// Whether the run was ended: something goes round and round, or what is under test has failed.
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
        if !self.is_tripped() {
            notified.await;
        }
    }

    /// Simulated time since the run began.
    pub fn elapsed(&self) -> Duration {
        self.0.began.elapsed()
    }

    /// What was recorded so far; the recorder begins anew with an empty trace.
    pub fn take(&self) -> Trace {
        std::mem::take(&mut self.written().trace)
    }

    fn written(&self) -> MutexGuard<'_, Written> {
        // A handler that panics on purpose never holds it.
        self.0.written.lock().expect("no holder panics")
    }
}

impl Default for Recorder {
    fn default() -> Self {
        Self::new()
    }
}
