//! Runs many seeds in parallel threads. Runs share nothing, so that results do not depend on the distribution of seeds.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    time::Duration,
};

use crate::{
    checkers::Violation,
    plan::{Plan, Profile},
    seed::Seed,
    sim::{self, RunOptions},
    summary::Summary,
    task,
};

/// The number of failing seeds that ends a batch.
const FAILURE_COUNT_MAX: usize = 5;
/// The time after which a run counts as one that does not end.
const PATIENCE: Duration = Duration::from_mins(2);

/// Options of a batch of seeds.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Batch {
    /// The profile of the plans.
    pub profile: Profile,
    /// The number of threads.
    pub thread_count: usize,
    /// The time in which at least one run has to end, or the batch is given up.
    pub patience: Duration,
}

/// The results of a batch.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// The profile of the plans.
    pub profile: Profile,
    /// The figures of all runs.
    pub summary: Summary,
    /// The failing seeds, in order. A batch ends early if there are several.
    pub failures: Vec<Failure>,
    /// The seeds that were running when the batch was given up.
    pub stuck: Vec<Seed>,
}

/// A seed that failed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Failure {
    /// The seed.
    pub seed: Seed,
    /// The broken promises.
    pub violations: Vec<Violation>,
}

/// The result of one seed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Done {
    /// The figures of the run.
    pub summary: Summary,
    /// The failure, if the run was not good.
    pub failure: Option<Failure>,
}

// === impl Report ===

impl Report {
    /// Creates a report of no runs.
    pub fn new(profile: Profile) -> Self {
        Self {
            profile,
            ..Self::default()
        }
    }

    /// Returns true if every check held in every run.
    pub fn is_good(&self) -> bool {
        self.failures.is_empty() && self.stuck.is_empty()
    }

    fn take(&mut self, done: Done) {
        self.summary.add(done.summary);
        self.failures.extend(done.failure);
    }
}

// === impl Done ===

impl Done {
    /// Draws the plan of a seed and runs it.
    pub fn run(seed: Seed, profile: Profile) -> Self {
        let outcome = sim::run(&Plan::draw_sized(seed, profile), &RunOptions::default());
        let failure = (!outcome.is_good()).then_some(Failure {
            seed,
            violations: outcome.violations,
        });
        Self {
            summary: Summary::of(seed, &outcome.trace),
            failure,
        }
    }
}

// === impl Batch ===

impl Batch {
    /// Creates a batch of `thread_count` threads, which is given up if no run ends in two minutes.
    pub fn new(profile: Profile, thread_count: usize) -> Self {
        Self {
            profile,
            thread_count,
            patience: PATIENCE,
        }
    }

    /// Runs `seeds`. `watch` sees each result; if it returns `false`, no more runs begin.
    ///
    /// A batch that is given up leaves its threads behind, and the caller should end the process.
    pub fn run(
        self,
        seeds: impl Iterator<Item = Seed> + Send + 'static,
        mut watch: impl FnMut(&Done) -> bool,
    ) -> Report {
        let shared = Arc::new(Shared {
            profile: self.profile,
            seeds: Mutex::new(Box::new(seeds)),
            under_way: Mutex::new(Vec::new()),
            is_over: AtomicBool::new(false),
        });
        let (sender, results) = mpsc::channel();
        let worker = Arc::clone(&shared);
        task::detach_threads(self.thread_count, move || worker.work(&sender));
        let mut report = Report::new(self.profile);
        loop {
            match results.recv_timeout(self.patience) {
                Ok(done) => {
                    let goes_on = watch(&done);
                    report.take(done);
                    if !goes_on || report.failures.len() >= FAILURE_COUNT_MAX {
                        shared.is_over.store(true, Ordering::Relaxed);
                    }
                }
                Err(mpsc::RecvTimeoutError::Disconnected) => break,
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    shared.is_over.store(true, Ordering::Relaxed);
                    report.stuck.clone_from(&lock(&shared.under_way));
                    break;
                }
            }
        }
        report.failures.sort_by_key(|failure| failure.seed);
        report
    }
}

/// State that the threads of a batch share.
struct Shared {
    profile: Profile,
    seeds: Mutex<Box<dyn Iterator<Item = Seed> + Send>>,
    under_way: Mutex<Vec<Seed>>,
    is_over: AtomicBool,
}

// === impl Shared ===

impl Shared {
    fn work(&self, results: &mpsc::Sender<Done>) {
        while !self.is_over.load(Ordering::Relaxed) {
            let Some(seed) = lock(&self.seeds).next() else {
                return;
            };
            lock(&self.under_way).push(seed);
            let done = Done::run(seed, self.profile);
            lock(&self.under_way).retain(|other| *other != seed);
            if results.send(done).is_err() {
                return;
            }
        }
    }
}

fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
