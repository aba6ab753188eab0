//! Some two thousand seeds: every promise is kept.

use std::{
    fmt::Write as _,
    io::{self, Write as _},
    thread,
};

use conformance::{
    batch::{Batch, Report},
    plan::Profile,
    seed::Seed,
};

/// Runs the first `count` seeds of a profile and says on standard error what that was. It is told past the test runner,
/// which would keep it to itself.
fn check(profile: Profile, count: u64) {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let report = Batch::new(profile, threads).run((0..count).map(Seed::new), |_| true);
    assert!(report.is_good(), "{}", broken(&report));
    let summary = report.summary;
    assert_eq!(summary.run_count, count);
    let line = format!(
        "{} seeds of profile {}: {} faults had an effect, {} checks held\n",
        summary.run_count,
        profile.name(),
        summary.fault_count(),
        summary.check_count,
    );
    // Nobody may be there to read it.
    let _ = io::stderr().write_all(line.as_bytes());
}

fn broken(report: &Report) -> String {
    let mut text = String::new();
    for failure in &report.failures {
        let (seed, profile) = (failure.seed, report.profile.name());
        writeln!(
            text,
            "replay it: cargo run --release -p conformance -- replay {seed} --profile {profile}"
        )
        .unwrap();
        for violation in failure.violations.iter().take(10) {
            writeln!(text, "  {violation}").unwrap();
        }
    }
    format!("{text}seeds that do not end: {:?}", report.stuck)
}

#[test]
fn small_plans_keep_every_promise() {
    check(Profile::Small, 1_200);
}

#[test]
fn medium_plans_keep_every_promise() {
    check(Profile::Medium, 800);
}

#[test]
fn large_plans_keep_every_promise() {
    check(Profile::Large, 30);
}
