//! Seeds: every promise is kept.
//!
//! `CONFORMANCE_SEEDS=2000 cargo test -p conformance` runs more of them than a push does.

use std::{
    env,
    fmt::Write as _,
    io::{self, Write as _},
    thread,
};

use conformance::{
    batch::{Batch, Report},
    plan::Profile,
    seed::Seed,
};

/// The number of seeds, all profiles together, where `CONFORMANCE_SEEDS` does not say another.
const SEED_COUNT: u64 = 520;

/// Returns the share of one profile in the number of seeds.
fn share(thousandths: u64) -> u64 {
    let count = match env::var("CONFORMANCE_SEEDS") {
        Ok(text) => text.parse().expect("CONFORMANCE_SEEDS is a number"),
        Err(_) => SEED_COUNT,
    };
    (count * thousandths).div_ceil(1_000)
}

/// Runs the first `count` seeds of a profile and reports them on standard error, past the test runner, which hides what
/// tests print.
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
    // The reader may be gone.
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
    check(Profile::Small, share(730));
}

#[test]
fn medium_plans_keep_every_promise() {
    check(Profile::Medium, share(260));
}

#[test]
fn large_plans_keep_every_promise() {
    check(Profile::Large, share(10));
}
