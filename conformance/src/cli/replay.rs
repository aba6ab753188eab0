//! The command `replay`: runs a seed or a plan again.

use std::{
    fs,
    num::NonZeroUsize,
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use clap::Args as ClapArgs;
use fakeserver::cli::output::OutputArgs;
use support::cli::{TraceArgs, say};

use super::{report, threads::ThreadArgs, traced::TracedRun};
use crate::{
    batch::{Mode, Tries},
    plan::Profile,
    reports::replay_line,
    seed::Seed,
    sim::{MinimalPlan, Outcome, Plan},
    timeline::timeline,
    trace::seconds,
    tracefile::Header,
};

#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// Seed to run.
    #[arg(required_unless_present = "plan", conflicts_with = "plan", value_parser = parse_seed)]
    seed: Option<u64>,
    /// Plan to run, in its text form.
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    /// Profile of the seed's plan.
    #[arg(
        long,
        value_enum,
        value_name = "P",
        default_value_t,
        conflicts_with = "plan"
    )]
    profile: Profile,
    #[command(flatten)]
    files: TraceArgs,
    /// Print a timeline: time, actor, version, event, and the first broken promise.
    #[arg(long)]
    timeline: bool,
    /// If the run fails, write the smallest plan that fails in the same way, and print its timeline.
    #[arg(long, value_name = "FILE", conflicts_with = "workers")]
    shrink: Option<PathBuf>,
    #[command(flatten)]
    in_threads: ThreadArgs,
    /// With --workers: run it N times, and report how often it failed.
    #[arg(long, value_name = "N", requires = "workers", default_value_t = NonZeroUsize::MIN)]
    tries: NonZeroUsize,
    #[command(flatten)]
    output: OutputArgs,
}

/// Reads a seed, and tells those who name a file how plans are named.
fn parse_seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|error| {
        if Path::new(text).exists() {
            format!("it is a file; a plan is run by `replay --plan {text}`")
        } else {
            format!(
                "{error}; a seed is a number, and a plan in a file is run by `replay --plan FILE`"
            )
        }
    })
}

// === impl Args ===

impl Args {
    pub(super) fn run(self) -> ExitCode {
        match self.replay() {
            Ok(outcome) => {
                for violation in &outcome.violations {
                    say(&format!("{violation}\n"));
                }
                if !outcome.is_good() {
                    return ExitCode::FAILURE;
                }
                if outcome.is_inconclusive {
                    say("inconclusive: the system woke the run too late\n");
                }
                say("every check held\n");
                ExitCode::SUCCESS
            }
            Err(message) => {
                eprintln!("{message}");
                ExitCode::from(2)
            }
        }
    }

    fn replay(&self) -> Result<Outcome, String> {
        let files = self.files.files().chain(self.shrink.as_deref());
        self.output.check(files)?;
        let plan = match (&self.plan, self.seed) {
            (Some(path), _) => read(path)?,
            (None, seed) => {
                let profile = self.in_threads.profile(self.profile);
                Plan::draw_sized(Seed::new(seed.unwrap_or_default()), profile)
            }
        };
        say(&format!(
            "{} informers, {} operations, {} faults in {} s\n",
            plan.informers.len(),
            plan.workload.len(),
            plan.faults.len(),
            seconds(Duration::from_millis(plan.safety_ms))
        ));
        let outcome = self.attempt(&plan)?;
        if let Some(path) = &self.shrink
            && !outcome.is_good()
        {
            let minimal =
                MinimalPlan::of(&plan, &outcome).expect("a run that is not good broke something");
            self.output.write(path, minimal.plan.to_text().as_bytes())?;
            say(&timeline(
                &minimal.outcome.trace,
                &minimal.outcome.violations,
            ));
            say(&format!(
                "replay the smaller plan: cargo run --release -p conformance -- replay --plan {}\n",
                path.display()
            ));
        } else if self.timeline {
            say(&timeline(&outcome.trace, &outcome.violations));
        }
        Ok(outcome)
    }

    /// Runs the plan as often as requested, and returns the first failure, or else the last run. Its trace is written.
    fn attempt(&self, plan: &Plan) -> Result<Outcome, String> {
        let mode = self.in_threads.mode();
        let _load = mode.load();
        let mut tries = Tries::default();
        let mut failure = None;
        let last = loop {
            let traced = match &failure {
                None => TracedRun::begin(&self.files, &self.header(plan))?,
                Some(_) => None,
            };
            let sink = traced.as_ref().map(TracedRun::sink);
            let outcome = mode.run_into(plan, sink.as_ref());
            if let Some(traced) = &traced {
                traced.finish(&outcome.violations)?;
            }
            tries.add(!outcome.is_good());
            if tries.count == self.tries.get() {
                break outcome;
            }
            if !outcome.is_good() {
                failure.get_or_insert(outcome);
            }
        };
        if mode != Mode::Paused {
            say(&report::tries(tries.failed_count, tries.count));
        }
        Ok(failure.unwrap_or(last))
    }

    /// Returns the header of the trace.
    fn header(&self, plan: &Plan) -> Header {
        let seed = plan.seed;
        let (title, line) = if let Some(path) = &self.plan {
            let path = path.display();
            let line = format!("cargo run --release -p conformance -- replay --plan {path}");
            (format!("plan {path}"), line)
        } else {
            let profile = self.in_threads.profile(self.profile);
            let line = replay_line(seed, profile, self.in_threads.mode());
            (format!("seed {seed}"), line)
        };
        Header::new(title).with_seed(seed.get()).with_replay(line)
    }
}

pub(super) fn read(path: &Path) -> Result<Plan, String> {
    let text = fs::read_to_string(path)
        .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    Plan::from_text(&text).map_err(|error| format!("{} is no plan: {error}", path.display()))
}
