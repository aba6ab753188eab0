//! Runs many seeds in parallel threads. Runs share nothing, so that results do not depend on the distribution of seeds.

use std::{
    num::NonZeroUsize,
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};

use crate::{
    checkers::Violation,
    plan::Profile,
    seed::Seed,
    sim::{self, Against, Outcome, Plan, RunOptions},
    summary::Summary,
    task::{self, Background},
    trace::SharedSink,
};

/// The number of failing seeds that ends a batch.
const FAILURE_COUNT_MAX: usize = 5;
/// The time after which a run counts as one that does not end.
pub(crate) const PATIENCE: Duration = Duration::from_mins(2);
/// The interval of looks at the runs in progress.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);
/// The time for caches to become equal to the server in real time.
const CONVERGENCE_LIMIT: Duration = Duration::from_secs(30);
/// The most tries of a seed that failed in real time, and the time within which they begin.
const TRY_COUNT_MAX: usize = 10;
const TRIES_WITHIN: Duration = Duration::from_secs(20);

/// Options of a batch of seeds.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Batch {
    /// The profile of the plans.
    pub profile: Profile,
    /// The number of threads.
    pub thread_count: usize,
    /// The clock and the threads of each run.
    pub mode: Mode,
    /// The time in which each run has to end, or the batch is given up.
    pub patience: Duration,
}

/// The clock and the threads of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Mode {
    /// One thread and a paused clock: the same plan gives the same run.
    #[default]
    Paused,
    /// Several threads in real time.
    Threads(Threads),
}

/// The threads of runs in real time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Threads {
    /// The number of threads of each run.
    pub worker_count: NonZeroUsize,
    /// The number of threads beside all runs that burn processor time.
    pub load_count: usize,
}

/// The results of a batch.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// The profile of the plans.
    pub profile: Profile,
    /// The clock and the threads of the runs.
    pub mode: Mode,
    /// The figures of all runs.
    pub summary: Summary,
    /// The failing seeds, in order. A batch ends early if there are several.
    pub failures: Vec<Failure>,
    /// The seeds that were running when the batch was given up.
    pub stuck: Vec<Seed>,
    /// The number of runs in threads that were woken so late that what they missed proves nothing.
    pub inconclusive_count: u64,
    /// The longest time by which the system woke a run in threads later than it asked for.
    pub longest_lag: Duration,
}

/// A seed that failed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Failure {
    /// The seed.
    pub seed: Seed,
    /// The file of the plan, if it is not the one that is drawn from the seed.
    pub file: Option<PathBuf>,
    /// The broken promises; none of a run that did not end.
    pub violations: Vec<Violation>,
    /// The further tries of a seed in real time, which may go well.
    pub tries: Option<Tries>,
}

/// Tries of one plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tries {
    /// The number of tries.
    pub count: usize,
    /// The number of those that failed.
    pub failed_count: usize,
}

/// The result of one seed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SeedResult {
    /// The figures of the run.
    pub summary: Summary,
    /// The failure, if the run was not good.
    pub failure: Option<Failure>,
    /// The longest time by which the system woke the run later than it asked for, if it is one in threads.
    pub lag: Duration,
    /// True if nothing else is wrong, but for what this lag may explain.
    pub is_inconclusive: bool,
}

// === impl Report ===

impl Report {
    /// Creates a report of no runs.
    pub fn new(profile: Profile, mode: Mode) -> Self {
        Self {
            profile,
            mode,
            ..Self::default()
        }
    }

    /// Returns true if every check held in every run.
    pub fn is_good(&self) -> bool {
        self.failures.is_empty() && self.stuck.is_empty()
    }

    fn take(&mut self, done: SeedResult) {
        self.inconclusive_count += u64::from(done.is_inconclusive);
        self.longest_lag = self.longest_lag.max(done.lag);
        self.summary.add(done.summary);
        self.failures.extend(done.failure);
    }
}

// === impl Mode ===

impl Mode {
    /// Runs a plan.
    ///
    /// # Panics
    ///
    /// Within a tokio runtime.
    pub fn run(self, plan: &Plan) -> Outcome {
        self.run_into(plan, None)
    }

    /// Runs a plan, and gives its observations to a sink.
    ///
    /// # Panics
    ///
    /// Within a tokio runtime.
    pub fn run_into(self, plan: &Plan, sink: Option<&SharedSink>) -> Outcome {
        let options = RunOptions::default().with_sink(sink);
        match self {
            Self::Paused => sim::run(plan, &options),
            Self::Threads(Threads { worker_count, .. }) => {
                let options = options.with_against(Against::InThreads(worker_count));
                sim::run(plan, &options.with_convergence_limit(CONVERGENCE_LIMIT))
            }
        }
    }

    /// Starts threads that burn processor time, if the mode has any, until the result is dropped.
    pub(crate) fn load(self) -> Background {
        match self {
            Self::Paused => Background::load(0),
            Self::Threads(Threads { load_count, .. }) => Background::load(load_count),
        }
    }
}

// === impl Threads ===

impl Threads {
    /// Creates runs of `worker_count` threads without load.
    pub fn new(worker_count: NonZeroUsize) -> Self {
        Self {
            worker_count,
            load_count: 0,
        }
    }

    /// Burns processor time with `count` further threads.
    #[must_use]
    pub fn with_load(mut self, count: usize) -> Self {
        self.load_count = count;
        self
    }
}

// === impl Tries ===

impl Tries {
    /// Counts a try.
    pub(crate) fn add(&mut self, has_failed: bool) {
        self.count += 1;
        self.failed_count += usize::from(has_failed);
    }
}

// === impl SeedResult ===

impl SeedResult {
    /// Draws the plan of a seed and runs it.
    pub fn run(seed: Seed, profile: Profile, mode: Mode) -> Self {
        let outcome = mode.run(&Plan::draw_sized(seed, profile));
        let is_good = outcome.is_good();
        let failure = (!is_good).then_some(Failure {
            seed,
            file: None,
            violations: outcome.violations,
            tries: None,
        });
        Self {
            summary: Summary::of(seed, &outcome.trace),
            failure,
            lag: outcome.lag,
            is_inconclusive: is_good && outcome.is_inconclusive,
        }
    }
}

// === impl Batch ===

impl Batch {
    /// Creates a batch of `thread_count` threads, which is given up if a run does not end in two minutes.
    pub fn new(profile: Profile, thread_count: usize) -> Self {
        Self {
            profile,
            thread_count,
            mode: Mode::Paused,
            patience: PATIENCE,
        }
    }

    /// Runs in real time, on several threads each.
    #[must_use]
    pub fn in_threads(mut self, threads: Threads) -> Self {
        self.mode = Mode::Threads(threads);
        self
    }

    /// Runs `seeds`. `watch` sees each result; if it returns `false`, no more runs begin.
    ///
    /// A batch that is given up leaves its threads behind, and the caller should end the process.
    pub fn run(
        self,
        seeds: impl Iterator<Item = Seed> + Send + 'static,
        mut watch: impl FnMut(&SeedResult) -> bool,
    ) -> Report {
        let shared = Arc::new(Shared {
            batch: self,
            seeds: Mutex::new(Box::new(seeds)),
            under_way: Mutex::new(Vec::new()),
            clock: Mutex::new(LookClock::start()),
            is_over: AtomicBool::new(false),
        });
        let load = self.mode.load();
        let (sender, results) = mpsc::channel();
        let worker = Arc::clone(&shared);
        task::detach_threads(self.thread_count, move || worker.work(&sender));
        let mut report = Report::new(self.profile, self.mode);
        loop {
            match results.recv_timeout(self.patience.min(LOOK_INTERVAL)) {
                Ok(done) => {
                    let goes_on = watch(&done);
                    report.take(done);
                    if !goes_on || report.failures.len() >= FAILURE_COUNT_MAX {
                        shared.is_over.store(true, Ordering::Relaxed);
                    }
                }
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
                Err(mpsc::RecvTimeoutError::Timeout) => {}
            }
            report.stuck = shared.overdue();
            if !report.stuck.is_empty() {
                shared.is_over.store(true, Ordering::Relaxed);
                break;
            }
        }
        drop(load);
        report.failures.sort_by_key(|failure| failure.seed);
        report
    }
}

/// State that the threads of a batch share.
struct Shared {
    batch: Batch,
    seeds: Mutex<Box<dyn Iterator<Item = Seed> + Send>>,
    /// The seeds that run, and the beginning of each.
    under_way: Mutex<Vec<(Seed, Duration)>>,
    clock: Mutex<LookClock>,
    is_over: AtomicBool,
}

/// The time in which runs could go on. It stands still while the whole process is stopped.
#[derive(Debug)]
struct LookClock {
    last: Instant,
    elapsed: Duration,
}

// === impl LookClock ===

impl LookClock {
    fn start() -> Self {
        Self {
            last: now(),
            elapsed: Duration::ZERO,
        }
    }

    /// Returns the time, which moves on by no more than an interval of looks at once.
    fn look(&mut self, now: Instant) -> Duration {
        self.elapsed += now.duration_since(self.last).min(LOOK_INTERVAL);
        self.last = now;
        self.elapsed
    }
}

// === impl Shared ===

impl Shared {
    fn work(&self, results: &mpsc::Sender<SeedResult>) {
        while !self.is_over.load(Ordering::Relaxed) {
            let Some(seed) = lock(&self.seeds).next() else {
                return;
            };
            let began = now();
            let mut done = self.attempt(seed);
            if let Some(failure) = &mut done.failure
                && matches!(self.batch.mode, Mode::Threads(_))
            {
                failure.tries = Some(self.tries(seed, began));
            }
            if results.send(done).is_err() {
                return;
            }
        }
    }

    fn attempt(&self, seed: Seed) -> SeedResult {
        let began = lock(&self.clock).look(now());
        lock(&self.under_way).push((seed, began));
        let done = SeedResult::run(seed, self.batch.profile, self.batch.mode);
        lock(&self.under_way).retain(|(other, _)| *other != seed);
        done
    }

    /// Runs a seed again that has failed in its first try.
    fn tries(&self, seed: Seed, began: Instant) -> Tries {
        let mut tries = Tries::default();
        tries.add(true);
        while tries.count < TRY_COUNT_MAX && began.elapsed() < TRIES_WITHIN {
            tries.add(self.attempt(seed).failure.is_some());
        }
        tries
    }

    /// Returns the seeds that should have ended by now.
    fn overdue(&self) -> Vec<Seed> {
        let now = lock(&self.clock).look(now());
        let mut under_way = lock(&self.under_way).clone();
        // One that has begun since then is not overdue.
        under_way.retain(|(_, began)| now.saturating_sub(*began) >= self.batch.patience);
        under_way.into_iter().map(|(seed, _)| seed).collect()
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a run that does not end is noticed by the wall's clock; no run sees it"
)]
fn now() -> Instant {
    Instant::now()
}

fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_of_the_process_counts_as_one_interval() {
        let mut clock = LookClock::start();
        let began = clock.last;
        let short = LOOK_INTERVAL / 4;
        assert_eq!(clock.look(began + short), short);
        assert_eq!(clock.look(began + PATIENCE), short + LOOK_INTERVAL);
        assert_eq!(
            clock.look(began + PATIENCE + short),
            2 * short + LOOK_INTERVAL
        );
    }
}
