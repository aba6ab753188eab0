//! Many seeds, side by side in threads: runs share nothing, so the results do not depend on which thread did what.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use crate::{
    checkers::Violation,
    plan::{Plan, Profile},
    seed::Seed,
    sim,
    summary::Summary,
};

/// How many failing seeds are enough.
const FAILURE_COUNT_MAX: usize = 5;
/// How long a run may take before it counts as one that does not end.
const PATIENCE: Duration = Duration::from_mins(2);

/// How many seeds of a profile are run.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Batch {
    /// How large their plans are.
    pub profile: Profile,
    /// In how many threads.
    pub thread_count: usize,
    /// How long none of them may end before the batch is given up.
    pub patience: Duration,
}

/// What came of many seeds.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// How large the plans were.
    pub profile: Profile,
    /// All runs in figures.
    pub summary: Summary,
    /// The seeds that failed, in order; a batch ends early when there are some.
    pub failures: Vec<Failure>,
    /// A seed that did not end within the patience of the caller; the batch was given up.
    pub stuck: Vec<Seed>,
}

/// A seed that failed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Failure {
    /// The seed.
    pub seed: Seed,
    /// What did not hold.
    pub violations: Vec<Violation>,
}

/// One seed that was run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Done {
    /// The run in figures.
    pub summary: Summary,
    /// If it failed, how.
    pub failure: Option<Failure>,
}

// === impl Report ===

impl Report {
    /// A report of no runs.
    pub fn new(profile: Profile) -> Self {
        Self {
            profile,
            ..Self::default()
        }
    }

    /// Whether every check held in every run.
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
        let outcome = sim::run(&Plan::draw_sized(seed, profile));
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
    /// Seeds of `profile` in `thread_count` threads, given up when none ends in two minutes.
    pub fn new(profile: Profile, thread_count: usize) -> Self {
        Self {
            profile,
            thread_count,
            patience: PATIENCE,
        }
    }

    /// Runs `seeds`. `watch` hears of each run that ends; when it says `false`, no more are begun.
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
        for _ in 0..self.thread_count.max(1) {
            let (shared, sender) = (Arc::clone(&shared), sender.clone());
            let worker = thread::Builder::new().name("seeds".to_owned());
            let worker = worker.spawn(move || shared.work(&sender));
            worker.expect("the system gives a thread");
        }
        drop(sender);
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

/// What the threads of a batch share.
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
