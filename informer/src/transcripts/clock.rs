//! Time that passes only by commands, and the events meanwhile.

use std::{
    future::Future,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use tokio::{
    runtime::{Builder, Runtime},
    task::yield_now,
    time::{Instant, sleep},
};

/// So often every task may run before it counts as waiting.
const ROUNDS: usize = 500;

/// A runtime whose clock stands still between the commands.
pub(crate) struct Clock {
    runtime: Runtime,
    journal: Journal,
}

/// The events so far, in order. Clones are the same journal.
#[derive(Clone, Default)]
pub(crate) struct Journal(Arc<Mutex<Vec<(Instant, String)>>>);

// === impl Clock ===

impl Clock {
    pub(crate) fn new() -> Self {
        let mut builder = Builder::new_current_thread();
        let runtime = builder.enable_time().start_paused(true).build();
        Self {
            runtime: runtime.expect("a runtime needs no more than memory"),
            journal: Journal::default(),
        }
    }

    pub(crate) fn journal(&self) -> &Journal {
        &self.journal
    }

    /// Runs `act`, lets every task run until it waits, and returns what happened.
    pub(crate) fn act<T>(&self, act: impl FnOnce() -> T) -> (T, String) {
        self.wait(async { act() })
    }

    /// The same of something that takes time.
    pub(crate) fn wait<T>(&self, act: impl Future<Output = T>) -> (T, String) {
        self.runtime.block_on(async {
            let began = Instant::now();
            let done = act.await;
            for _ in 0..ROUNDS {
                yield_now().await;
            }
            (done, self.journal.take(began))
        })
    }

    /// Lets `time` pass and returns what happened, and when.
    pub(crate) fn advance(&self, time: Duration) -> String {
        // A timer can be made only where the clock is.
        self.wait(async { sleep(time).await }).1
    }
}

// === impl Journal ===

impl Journal {
    /// Notes something now. Only on a clock.
    pub(crate) fn note(&self, line: impl Into<String>) {
        self.lock().push((Instant::now(), line.into()));
    }

    /// Takes what was noted: what came later than `began` with the time that had passed.
    fn take(&self, began: Instant) -> String {
        let lines = std::mem::take(&mut *self.lock());
        if lines.is_empty() {
            return "nothing".to_owned();
        }
        let lines: Vec<String> = lines
            .into_iter()
            .map(|(at, line)| match at.saturating_duration_since(began) {
                Duration::ZERO => line,
                passed => format!("after {passed:?}: {line}"),
            })
            .collect();
        lines.join("\n")
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(Instant, String)>> {
        let lines = self.0.lock();
        lines.expect("nothing panics while it holds the journal")
    }
}
