//! The report of `sim`.

use std::{fmt::Write, path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};
use support::partition::Stamp;

use super::SteerFigures;
use crate::{
    batch::{Failure, Mode, Report, Threads},
    plan::Profile,
    seed::Seed,
    summary::Summary,
};

/// The number of tries in the command that runs a seed in threads again.
const REPLAY_TRIES: usize = 50;
const WRITES: &str = "a string takes what is written";

/// The figures of many seeds.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SimReport {
    /// The campaign and the partition.
    pub campaign: Stamp,
    /// True if every check held in every run.
    pub good: bool,
    /// The profile of the plans.
    pub profile: Profile,
    /// The clock and the threads of the runs.
    pub mode: Mode,
    /// The time that the runs took, of all partitions together.
    pub seconds: f64,
    /// The figures of all runs.
    pub summary: Summary,
    /// See [`Summary::requests_per_fault`].
    pub requests_per_fault: f64,
    /// The failing seeds, in order.
    pub failures: Vec<FailedRun>,
    /// The seeds that did not end.
    pub stuck: Vec<Seed>,
    /// The number of runs in threads that were woken too late to prove anything.
    pub inconclusive: u64,
    /// The longest time by which the system woke a run in threads later than it asked for.
    pub longest_lag_ms: u64,
    /// The figures of a steered search.
    pub steered: Option<SteerFigures>,
}

/// A seed or a plan that failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FailedRun {
    /// The seed.
    pub seed: Seed,
    /// The file of the plan, if it is not the one that is drawn from the seed.
    pub plan: Option<PathBuf>,
    /// The broken promises; none of a run that did not end.
    pub violations: Vec<String>,
    /// The tries that failed, and all tries, of a seed in real time.
    pub tries: Option<[usize; 2]>,
    /// The command that runs it again.
    pub replay: String,
}

// === impl SimReport ===

impl SimReport {
    /// Creates the report of a batch that took a time.
    pub fn of(
        campaign: Stamp,
        report: &Report,
        steered: Option<SteerFigures>,
        took: Duration,
    ) -> Self {
        let failures = report.failures.iter();
        let failures = failures.map(|failure| FailedRun::of(failure, report));
        Self {
            campaign,
            good: report.is_good(),
            profile: report.profile,
            mode: report.mode,
            seconds: took.as_secs_f64(),
            summary: report.summary.clone(),
            requests_per_fault: report.summary.requests_per_fault(),
            failures: failures.collect(),
            stuck: report.stuck.clone(),
            inconclusive: report.inconclusive_count,
            longest_lag_ms: u64::try_from(report.longest_lag.as_millis()).unwrap_or(u64::MAX),
            steered,
        }
    }

    /// Returns the promises that nothing could have broken, and the transitions that did not occur.
    pub fn uncovered(&self) -> Vec<String> {
        let counts = self
            .summary
            .occasions
            .iter()
            .chain(&self.summary.transitions);
        let at_zero = counts.filter(|(_, count)| **count == 0);
        at_zero.map(|(name, _)| name.clone()).collect()
    }

    /// Merges the reports of partitions; `None` if there are none.
    pub(super) fn merged(reports: Vec<Self>) -> Option<Self> {
        let mut reports = reports.into_iter();
        let mut merged = reports.next()?;
        let mut steered = Vec::from_iter(merged.steered.take());
        for other in reports {
            merged.good &= other.good;
            merged.seconds += other.seconds;
            merged.summary.add(other.summary);
            merged.failures.extend(other.failures);
            merged.stuck.extend(other.stuck);
            merged.inconclusive += other.inconclusive;
            merged.longest_lag_ms = merged.longest_lag_ms.max(other.longest_lag_ms);
            steered.extend(other.steered);
        }
        merged.requests_per_fault = merged.summary.requests_per_fault();
        merged.failures.sort_by_key(|failure| failure.seed);
        merged.stuck.sort_unstable();
        merged.steered = SteerFigures::merged(steered);
        Some(merged)
    }
}

// === impl FailedRun ===

impl FailedRun {
    fn of(failure: &Failure, report: &Report) -> Self {
        let violations = failure.violations.iter();
        let replay = match &failure.file {
            Some(file) => format!(
                "cargo run --release -p conformance -- replay --plan {}",
                file.display()
            ),
            None => replay_line(failure.seed, report.profile, report.mode),
        };
        Self {
            seed: failure.seed,
            plan: failure.file.clone(),
            violations: violations.map(ToString::to_string).collect(),
            tries: failure.tries.map(|tries| [tries.failed_count, tries.count]),
            replay,
        }
    }
}

/// Formats the command that runs a seed again: to the byte on the paused clock, and under other schedules in threads.
pub fn replay_line(seed: Seed, profile: Profile, mode: Mode) -> String {
    let mut line = format!("cargo run --release -p conformance -- replay {seed}");
    match mode {
        Mode::Paused if profile == Profile::default() => {}
        Mode::Paused => write!(line, " --profile {}", profile.name()).expect(WRITES),
        Mode::Threads(Threads {
            worker_count,
            load_count,
        }) => {
            write!(line, " --workers {worker_count}").expect(WRITES);
            if load_count > 0 {
                write!(line, " --load {load_count}").expect(WRITES);
            }
            write!(line, " --tries {REPLAY_TRIES}").expect(WRITES);
        }
    }
    line
}
