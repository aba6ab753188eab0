//! Short plans in real time, each on several threads: every promise is kept that does not depend on the moment.

use std::num::NonZeroUsize;

use conformance::{
    batch::{Batch, Threads},
    plan::Profile,
    seed::Seed,
};

/// The number of threads of each run.
const WORKERS: NonZeroUsize = NonZeroUsize::new(4).unwrap();
/// The number of runs beside each other.
const RUNS: usize = 6;

/// Runs the seeds from `first` on.
fn check(first: u64, count: u64, threads: Threads) {
    let seeds = (first..first + count).map(Seed::new);
    let report = Batch::new(Profile::Brief, RUNS)
        .in_threads(threads)
        .run(seeds, |_| true);
    assert!(
        report.is_good(),
        "run it again: cargo run --release -p conformance -- replay SEED --workers {WORKERS} --tries 50\n{:#?}",
        (&report.failures, &report.stuck)
    );
    assert_eq!(report.summary.run_count, count);
}

#[test]
fn brief_plans_keep_every_promise_on_several_threads() {
    check(0, 12, Threads::new(WORKERS));
}

#[test]
fn they_do_so_beside_a_load() {
    check(12, 6, Threads::new(WORKERS).with_load(2));
}
