//! `replay`: one run again.

use std::{
    fs,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Args as ClapArgs;

use super::say;
use crate::{
    plan::{Plan, shrink::Shrinker},
    seed::Seed,
    sim::{self, Outcome},
};

/// How many smaller plans are tried.
const ATTEMPT_COUNT_MAX: usize = 2_000;

#[derive(Debug, ClapArgs)]
pub(super) struct Args {
    /// The seed to run.
    #[arg(required_unless_present = "plan", conflicts_with = "plan")]
    seed: Option<u64>,
    /// The plan to run, in its text form.
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    /// Write down all that was observed.
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// If it fails, write a smaller plan that fails, too.
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
            (None, seed) => Plan::draw(Seed::new(seed.unwrap_or_default())),
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
            let smaller = shrunk(plan, &outcome);
            write(path, &smaller.to_text())?;
            say(&format!(
                "replay the smaller plan: cargo run --release -p conformance -- replay --plan {}\n",
                path.display()
            ));
        }
        Ok(outcome)
    }
}

/// The smallest plan found that breaks a promise to the same checker.
fn shrunk(plan: Plan, outcome: &Outcome) -> Plan {
    let Some(broken) = outcome.broken().next() else {
        return plan;
    };
    let checker = broken.checker;
    let mut shrinker = Shrinker::new(plan);
    for _ in 0..ATTEMPT_COUNT_MAX {
        let Some(proposed) = shrinker.propose() else {
            break;
        };
        let outcome = sim::run(proposed);
        let still_fails = outcome
            .broken()
            .any(|violation| violation.checker == checker);
        shrinker.judge(still_fails);
    }
    shrinker.smallest().clone()
}

fn read(path: &Path) -> Result<Plan, String> {
    let text = fs::read_to_string(path)
        .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    Plan::from_text(&text).map_err(|error| format!("{} is no plan: {error}", path.display()))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))
}
