//! Plans drawn by proptest, and shrunk if one fails.

use conformance::sim::{self, Plan, RunOptions, shrink::any_plan};
use proptest::{
    strategy::Strategy,
    test_runner::{Config, FileFailurePersistence, RngSeed, TestCaseError, TestError, TestRunner},
};

/// Draws plans, the same ones each time, runs them, and reports the smallest that fails. The program draws fresh ones.
fn check(strategy: impl Strategy<Value = Plan>, case_count: u32) {
    let config = Config {
        cases: case_count,
        max_shrink_iters: 2_000,
        rng_seed: RngSeed::Fixed(7),
        // Failing plans are kept in `regressions/`, which says more than proptest's seed.
        failure_persistence: Some(Box::new(FileFailurePersistence::Off)),
        ..Config::default()
    };
    let result = TestRunner::new(config).run(&strategy, |plan| {
        let violations = sim::run(&plan, &RunOptions::default()).violations;
        match violations.first() {
            None => Ok(()),
            Some(violation) => Err(TestCaseError::fail(violation.to_string())),
        }
    });
    if let Err(TestError::Fail(reason, plan)) = result {
        let path = concat!(env!("CARGO_TARGET_TMPDIR"), "/shrunk-plan.json");
        std::fs::write(path, plan.to_text()).unwrap();
        panic!(
            "{reason}\nreplay it: cargo run --release -p conformance -- replay --plan {path}\n\
             and keep it in conformance/regressions/, with a line of why\n{}",
            plan.to_text()
        );
    }
    result.unwrap();
}

#[test]
fn any_plan_keeps_every_promise() {
    check(any_plan(), 60);
}
