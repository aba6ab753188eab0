//! `sim`: fresh seeds, a progress bar, and a table.

use std::{
    fs, io::IsTerminal, num::NonZeroUsize, path::PathBuf, process::ExitCode, thread, time::Duration,
};

use clap::Args as ClapArgs;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{report, say};
use crate::{batch, seed::Seed};

/// How long a run may take before it counts as one that does not end.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// How many seeds to run at most.
    #[arg(long, value_name = "N", default_value_t = 2_000, value_parser = clap::value_parser!(u64).range(1..))]
    seeds: u64,
    /// The first seed; fresh ones if left out.
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// Begin no more runs after so many seconds; 0 for no limit.
    #[arg(long, value_name = "SECONDS", default_value_t = 45)]
    within: u64,
    /// How many threads to use; as many as there are processors if left out.
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Write the figures to this file, too.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

// === impl Args ===

impl Args {
    pub(super) fn run(self) -> ExitCode {
        let first = self.seed.unwrap_or_else(fresh);
        let last = first.saturating_add(self.seeds);
        say(&format!("seeds {first} to {}\n", last.saturating_sub(1)));
        let threads = self
            .threads
            .or_else(|| thread::available_parallelism().ok());
        let threads = threads.map_or(1, NonZeroUsize::get);
        let bar = progress_bar(self.seeds);
        let clock = Clock::start(self.within);
        let mut failure_count = 0;
        let report = batch::run((first..last).map(Seed::new), threads, PATIENCE, |done| {
            failure_count += usize::from(done.failure.is_some());
            if failure_count > 0 {
                bar.set_message(format!("{failure_count} failed"));
            }
            bar.inc(1);
            !clock.is_over()
        });
        bar.finish_and_clear();
        if report.is_good() && report.summary.run_count < self.seeds {
            say(&format!("stopped after {} s\n", self.within));
        }
        say(&report::text(&report, clock.elapsed()));
        if let Some(path) = &self.json
            && let Err(error) = fs::write(path, report::json(&report))
        {
            eprintln!("cannot write {}: {error}", path.display());
            return ExitCode::from(2);
        }
        if report.is_good() {
            ExitCode::SUCCESS
        } else {
            ExitCode::FAILURE
        }
    }
}

fn progress_bar(length: u64) -> ProgressBar {
    let target = if std::io::stderr().is_terminal() {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    };
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} seeds {elapsed} {msg}");
    ProgressBar::with_draw_target(Some(length), target)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// The time on the wall: only to end in time, never part of a run.
struct Clock {
    began: std::time::Instant,
    limit: Option<Duration>,
}

// === impl Clock ===

impl Clock {
    #[expect(
        clippy::disallowed_methods,
        reason = "people wait on the wall's clock; no run sees it"
    )]
    fn start(within_s: u64) -> Self {
        Self {
            began: std::time::Instant::now(),
            limit: (within_s > 0).then(|| Duration::from_secs(within_s)),
        }
    }

    fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    fn is_over(&self) -> bool {
        self.limit.is_some_and(|limit| self.elapsed() >= limit)
    }
}

/// A number that was not used before, short enough to be typed.
#[expect(
    clippy::disallowed_methods,
    reason = "fresh seeds have to differ from run to run"
)]
fn fresh() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let ms = now.map_or(0, |since| since.as_millis());
    // A multiplier that is odd loses nothing and spreads neighbours.
    u64::try_from(ms % 1_000_000_007).unwrap_or(0) * 48_271 % 1_000_000_007
}
