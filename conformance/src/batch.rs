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

use crate::{checkers::Violation, plan::Plan, seed::Seed, sim, summary::Summary};

/// How many failing seeds are enough.
const FAILURE_COUNT_MAX: usize = 5;

/// What came of many seeds.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Report {
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
    pub fn run(seed: Seed) -> Self {
        let outcome = sim::run(&Plan::draw(seed));
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

/// Runs `seeds` in `thread_count` threads. `watch` hears of each run that ends; when it says `false`, no more are begun.
///
/// Where no run ends for as long as `patience`, the batch is given up: its threads are left behind, and the caller should
/// end the process.
pub fn run(
    seeds: impl Iterator<Item = Seed> + Send + 'static,
    thread_count: usize,
    patience: Duration,
    mut watch: impl FnMut(&Done) -> bool,
) -> Report {
    let shared = Arc::new(Shared {
        seeds: Mutex::new(Box::new(seeds)),
        under_way: Mutex::new(Vec::new()),
        is_over: AtomicBool::new(false),
    });
    let (sender, results) = mpsc::channel();
    for _ in 0..thread_count.max(1) {
        let (shared, sender) = (Arc::clone(&shared), sender.clone());
        let worker = thread::Builder::new().name("seeds".to_owned());
        let worker = worker.spawn(move || shared.work(&sender));
        worker.expect("the system gives a thread");
    }
    drop(sender);
    let mut report = Report::default();
    loop {
        match results.recv_timeout(patience) {
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

/// What the threads of a batch share.
struct Shared {
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
            let done = Done::run(seed);
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
