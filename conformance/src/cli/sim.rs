//! The command `sim`: fresh seeds, a progress bar, and a table.

use std::{
    io::IsTerminal, num::NonZeroUsize, path::PathBuf, process::ExitCode, thread, time::Duration,
};

use clap::Args as ClapArgs;
use fakeserver::cli::output::OutputArgs;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use support::{
    cli::{PartitionArgs, StopFlag, say},
    partition::{Partition, Stamp},
};

use super::{
    replay::read,
    report,
    steer::{self, SteerArgs},
    threads::ThreadArgs,
    traced::TraceFolders,
};
use crate::{
    batch::{Batch, Mode, Report, SeedResult},
    plan::Profile,
    reports::{CampaignReport, SimReport, SteerFigures},
    seed::{Seed, fnv1a},
    sim::Plan,
    trace::SharedSink,
    tracefile::Header,
};

/// The default number of seeds, and the time limit with it.
const SEED_COUNT: u64 = 2_000;
const SECONDS: u64 = 45;
/// The exit status of runs in which something did not occur that has to.
const NOT_COVERED: u8 = 3;
/// The number of runs in real time that share a processor.
const RUNS_A_PROCESSOR: usize = 4;

#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// Number of seeds [default: 2000, or as many as end within 45 s].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    seeds: Option<u64>,
    /// First seed [default: a fresh one].
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// Size of the plans.
    #[arg(long, value_enum, value_name = "P", default_value_t)]
    profile: Profile,
    /// Run seeds for this many minutes, in any number unless one is given.
    #[arg(long, value_name = "M", conflicts_with = "within", value_parser = clap::value_parser!(u64).range(1..))]
    minutes: Option<u64>,
    /// Begin no more runs after this many seconds; 0 for no limit.
    #[arg(long, value_name = "SECONDS")]
    within: Option<u64>,
    /// Number of runs beside each other, each on a thread [default: one a processor; with --workers four].
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    #[command(flatten)]
    in_threads: ThreadArgs,
    /// Print all figures, and how often each fault had an effect.
    #[arg(short, long)]
    verbose: bool,
    /// Print how often each promise could have been broken and how often each transition occurred, and which never did.
    #[arg(long)]
    coverage: bool,
    /// Fail with exit status 3 if a promise could not have been broken by anything, or a transition did not occur. Of a partition
    /// that is judged by `conformance merge --require-coverage`.
    #[arg(long)]
    require_coverage: bool,
    #[command(flatten)]
    partition: PartitionArgs,
    #[command(flatten)]
    steering: SteerArgs,
    #[command(flatten)]
    folders: TraceFolders,
    /// Write the figures to this file, too; `conformance merge` reads it.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArgs,
}

/// The number of seeds and the time limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Limits {
    /// No limit if `None`.
    seeds: Option<u64>,
    time: Option<Duration>,
}

// === impl Args ===

impl Args {
    pub(super) fn run(self) -> ExitCode {
        match self.sim() {
            Ok(status) => status,
            Err(error) => {
                eprintln!("{error}");
                ExitCode::from(2)
            }
        }
    }

    fn sim(&self) -> Result<ExitCode, String> {
        if self.folders.is_some() && self.in_threads.mode() != Mode::Paused {
            return Err(
                "runs in threads do not repeat; `replay --workers` writes the trace of a failing try"
                    .to_owned(),
            );
        }
        self.output.check(self.json.as_deref())?;
        self.steering.check()?;
        let partition = self.partition.partition()?;
        let limits = self.limits();
        let first = match self.seed {
            Some(seed) => seed,
            None if partition.is_whole() => fresh(),
            None => {
                return Err(format!(
                    "partition {partition} of fresh seeds could have those of another one: give all partitions the same --seed"
                ));
            }
        };
        let end = first.saturating_add(limits.seeds.unwrap_or(u64::MAX));
        let clock = Clock::start(limits.time);
        say(&self.title(first, end - 1, partition));
        let (report, steered) = self.run_seeds(first..end, partition, &clock);
        let seconds = clock.elapsed().as_secs();
        let own_count = limits.seeds.map(|count| partition.size(count));
        let is_short = own_count.is_some_and(|count| report.summary.run_count < count);
        let mut ended = None;
        if clock.stop.is_set() {
            let words = format!("ended by a signal after {seconds} s");
            say(&format!("{words}\n"));
            ended = Some(words);
        } else if report.is_good() && is_short {
            say(&format!("stopped after {seconds} s\n"));
        }
        let stamp = self.stamp(first, partition).with_ended(ended);
        let file = SimReport::of(stamp, &report, steered, clock.elapsed());
        say(&report::text(&file, self.verbose));
        if let Some(steered) = &file.steered {
            say(&steer::text(steered));
        }
        if self.coverage {
            say(&report::coverage(&file));
        }
        self.trace_failures(&report, &file)?;
        let (is_good, uncovered) = (file.good, file.uncovered());
        if let Some(path) = &self.json {
            let json = CampaignReport::Sim(Box::new(file)).to_json();
            self.output.write(path, json.as_bytes())?;
        }
        Ok(if !is_good {
            ExitCode::FAILURE
        } else if clock.stop.is_set() {
            ExitCode::from(2)
        } else if self.require_coverage && partition.is_whole() {
            status_of_coverage(&uncovered)
        } else {
            ExitCode::SUCCESS
        })
    }

    /// Returns the stamp of the report: the options on which runs depend, and what the first seed gives, which changes with the
    /// program.
    fn stamp(&self, first: u64, partition: Partition) -> Stamp {
        let profile = self.in_threads.profile(self.profile);
        let plan = Plan::draw_sized(Seed::new(first), profile).to_text();
        let seeds = self.limits().seeds;
        let seeds = seeds.map_or_else(|| "any number".to_owned(), |count| count.to_string());
        let mut stamp = Stamp::new("sim", env!("CARGO_PKG_VERSION"), partition)
            .with("--seed", &first)
            .with("--seeds", &seeds)
            .with("--profile", &profile.name())
            .with(
                "the plan of the first seed",
                &format!("{:016x}", fnv1a(plan.as_bytes())),
            );
        if let Mode::Threads(threads) = self.in_threads.mode() {
            stamp = stamp.with("--workers", &threads.worker_count);
        }
        if self.steering.steer {
            stamp = stamp.with("--steer --fresh", &self.steering.fresh);
        }
        stamp
    }

    /// Runs the failing seeds again, and writes what happened.
    fn trace_failures(&self, report: &Report, file: &SimReport) -> Result<(), String> {
        if !self.folders.is_some() {
            return Ok(());
        }
        for (failure, shown) in report.failures.iter().zip(&file.failures) {
            let seed = failure.seed;
            let plan = match &failure.file {
                Some(path) => read(path)?,
                None => Plan::draw_sized(seed, report.profile),
            };
            let header = Header::new(format!("seed {seed}"))
                .with_seed(seed.get())
                .with_replay(shown.replay.clone());
            let run = |sink: &SharedSink| report.mode.run_into(&plan, Some(sink)).violations;
            self.folders
                .write(&format!("seed-{seed}"), &header, self.output, run)?;
        }
        Ok(())
    }

    /// Returns the first line of the output.
    fn title(&self, first: u64, last: u64, partition: Partition) -> String {
        let profile = self.in_threads.profile(self.profile).name();
        let steered = if self.steering.steer { ", steered" } else { "" };
        let part = if partition.is_whole() {
            String::new()
        } else {
            format!(", partition {partition}")
        };
        match self.limits().seeds {
            Some(count) if self.steering.steer => {
                format!("{count} plans from seed {first} on, {profile}, steered{part}\n")
            }
            Some(_) => format!("seeds {first} to {last}, {profile}{part}\n"),
            None => format!("seeds from {first} on, {profile}{steered}{part}\n"),
        }
    }

    fn run_seeds(
        &self,
        seeds: std::ops::Range<u64>,
        partition: Partition,
        clock: &Clock,
    ) -> (Report, Option<SteerFigures>) {
        let threads = self.thread_count();
        let own_count = self.limits().seeds.map(|count| partition.size(count));
        let bar = progress_bar(own_count);
        let mut failure_count = 0;
        let profile = self.in_threads.profile(self.profile);
        let mut goes_on = |has_failed: bool| {
            failure_count += usize::from(has_failed);
            if failure_count > 0 {
                bar.set_message(format!("{failure_count} failed"));
            }
            bar.inc(1);
            !clock.is_over()
        };
        let result = if self.steering.steer {
            let first = Seed::new(seeds.start);
            let steered = self
                .steering
                .run(first, partition, profile, threads, own_count, goes_on);
            (steered.0, Some(steered.1))
        } else {
            let mut batch = Batch::new(profile, threads);
            batch.mode = self.in_threads.mode();
            let watch = |done: &SeedResult| goes_on(done.failure.is_some());
            (batch.run(partition.of(seeds).map(Seed::new), watch), None)
        };
        bar.finish_and_clear();
        result
    }

    fn thread_count(&self) -> usize {
        if let Some(count) = self.threads {
            return count.get();
        }
        let processors = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        match self.in_threads.mode() {
            Mode::Paused => processors,
            // Runs in real time mostly wait.
            Mode::Threads(_) => processors * RUNS_A_PROCESSOR,
        }
    }

    fn limits(&self) -> Limits {
        let given = self.within.map(|within| (within > 0).then_some(within));
        let seconds = match (self.minutes, given) {
            (Some(minutes), _) => Some(minutes * 60),
            (None, Some(within)) => within,
            // A given number of seeds has no time limit.
            (None, None) => self.seeds.is_none().then_some(SECONDS),
        };
        Limits {
            seeds: match self.minutes {
                Some(_) => self.seeds,
                None => Some(self.seeds.unwrap_or(SEED_COUNT)),
            },
            time: seconds.map(Duration::from_secs),
        }
    }
}

/// Returns the exit status of good runs, by what did not occur in them.
pub(super) fn status_of_coverage(uncovered: &[String]) -> ExitCode {
    if uncovered.is_empty() {
        return ExitCode::SUCCESS;
    }
    eprintln!("not covered: {}", uncovered.join(", "));
    ExitCode::from(NOT_COVERED)
}

fn progress_bar(length: Option<u64>) -> ProgressBar {
    let target = if std::io::stderr().is_terminal() {
        ProgressDrawTarget::stderr()
    } else {
        ProgressDrawTarget::hidden()
    };
    let template = if length.is_some() {
        "{bar:40} {pos}/{len} seeds {elapsed} {msg}"
    } else {
        "{spinner} {pos} seeds {per_sec} {elapsed} {msg}"
    };
    let style = ProgressStyle::with_template(template);
    ProgressBar::with_draw_target(length, target)
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// The wall clock, for the time limit alone: never part of a run.
struct Clock {
    began: std::time::Instant,
    limit: Option<Duration>,
    /// Set when somebody does not want to wait any more.
    stop: StopFlag,
}

// === impl Clock ===

impl Clock {
    #[expect(
        clippy::disallowed_methods,
        reason = "people wait on the wall's clock; no run sees it"
    )]
    fn start(limit: Option<Duration>) -> Self {
        Self {
            began: std::time::Instant::now(),
            limit,
            stop: StopFlag::listen(),
        }
    }

    fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    fn is_over(&self) -> bool {
        self.stop.is_set() || self.limit.is_some_and(|limit| self.elapsed() >= limit)
    }
}

/// Returns a number that was not used before, short enough to be typed.
#[expect(
    clippy::disallowed_methods,
    reason = "fresh seeds have to differ from run to run"
)]
pub(super) fn fresh() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let ms = now.map_or(0, |since| since.as_millis());
    // An odd multiplier loses nothing and spreads neighbours.
    u64::try_from(ms % 1_000_000_007).unwrap_or(0) * 48_271 % 1_000_000_007
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use clap::Parser;

    use super::{Args, Limits};

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
    }

    fn limits(line: &str) -> Limits {
        let words = ["sim"].into_iter().chain(line.split_whitespace());
        Line::try_parse_from(words).unwrap().args.limits()
    }

    #[test]
    fn arguments_are_respected() {
        let want = |seeds, seconds: Option<u64>| Limits {
            seeds,
            time: seconds.map(Duration::from_secs),
        };
        assert_eq!(limits(""), want(Some(2_000), Some(45)));
        assert_eq!(limits("--seeds 100000"), want(Some(100_000), None));
        assert_eq!(limits("--seeds 9 --within 3"), want(Some(9), Some(3)));
        assert_eq!(limits("--within 0"), want(Some(2_000), None));
        assert_eq!(limits("--minutes 2"), want(None, Some(120)));
        assert_eq!(limits("--minutes 2 --seeds 7"), want(Some(7), Some(120)));
    }

    #[test]
    fn two_times_are_refused() {
        let words = ["sim", "--minutes", "2", "--within", "3"];
        assert!(Line::try_parse_from(words).is_err());
    }
}
