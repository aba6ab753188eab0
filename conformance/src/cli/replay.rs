//! `replay`: one run again.

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Args as ClapArgs;

use super::say;
use crate::{
    plan::{Plan, Profile},
    seed::Seed,
    sim::{self, Minimal, Outcome},
    timeline::timeline,
};

#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// The seed to run.
    #[arg(required_unless_present = "plan", conflicts_with = "plan")]
    seed: Option<u64>,
    /// The plan to run, in its text form.
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    /// In which profile the seed's plan is drawn.
    #[arg(
        long,
        value_enum,
        value_name = "P",
        default_value_t,
        conflicts_with = "plan"
    )]
    profile: Profile,
    /// Write down all that was observed.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Tell what happened: time, actor, version, event, and the first broken promise where it broke.
    #[arg(long)]
    timeline: bool,
    /// If it fails, write the smallest plan found that fails in the same way, and tell what happens in it.
    #[arg(long, value_name = "FILE")]
    shrink: Option<PathBuf>,
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
        let plan = match (&self.plan, self.seed) {
            (Some(path), _) => read(path)?,
            (None, seed) => Plan::draw_sized(Seed::new(seed.unwrap_or_default()), self.profile),
        };
        say(&format!(
            "{} informers, {} operations, {} faults in {} s\n",
            plan.informers.len(),
            plan.workload.len(),
            plan.faults.len(),
            plan.safety_ms / 1_000
        ));
        let outcome = sim::run(&plan);
        if let Some(path) = &self.trace {
            write(path, &outcome.trace.to_string())?;
        }
        if let Some(path) = &self.shrink
            && !outcome.is_good()
        {
            let minimal =
                Minimal::of(&plan, &outcome).expect("a run that is not good broke something");
            write(path, &minimal.plan.to_text())?;
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
}

fn read(path: &Path) -> Result<Plan, String> {
    let text = fs::read_to_string(path)
        .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    Plan::from_text(&text).map_err(|error| format!("{} is no plan: {error}", path.display()))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))
}
