//! Hunts seeded bugs: runs drawn plans with a bug at its seam until a checker finds something.

mod page;

use std::{collections::BTreeSet, ops::Range};

pub use self::page::page;
use crate::{
    bugs::Bug,
    checkers::Violation,
    participants::subjects::{self, SubjectParts},
    seed::Seed,
    sim::{self, Outcome, Plan, RunOptions},
    task,
    trace::SharedSink,
};

/// The result of the search for one bug.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hunt {
    /// The bug.
    pub bug: Bug,
    /// The number of seeds that were run.
    pub seed_count: u64,
    /// The catch; `None` if no checker found anything.
    pub catch: Option<Catch>,
}

/// The finding that caught a bug.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Catch {
    /// The first seed that shows it.
    pub seed: Seed,
    /// The checkers with findings, the one with the first finding first.
    pub checkers: Vec<&'static str>,
    /// The first finding.
    pub violation: Violation,
}

// === impl Catch ===

impl Catch {
    /// Names the checkers, in words.
    pub fn by(&self) -> String {
        let first = self.violation.checker;
        match self.checkers.len().saturating_sub(1) {
            0 => first.to_owned(),
            1 => format!("{first} and another"),
            more => format!("{first} and {more} others"),
        }
    }
}

/// Runs the plans of `seeds` with `bug` at its seam until a checker finds something.
///
/// # Panics
///
/// Within a tokio runtime.
pub fn hunt(bug: Bug, seeds: impl IntoIterator<Item = Seed>) -> Hunt {
    let mut seed_count = 0;
    for seed in seeds {
        seed_count += 1;
        let outcome = run(&Plan::draw(seed), bug);
        if let Some(violation) = outcome.broken().next().cloned() {
            return Hunt {
                bug,
                seed_count,
                catch: Some(Catch {
                    seed,
                    checkers: checkers(&outcome),
                    violation,
                }),
            };
        }
    }
    Hunt {
        bug,
        seed_count,
        catch: None,
    }
}

/// Hunts several bugs in `thread_count` threads, each with all `seeds`, and returns the hunts in the order of the bugs.
///
/// `watch` sees each hunt as it ends.
pub fn hunts(
    bugs: &[Bug],
    seeds: &Range<u64>,
    thread_count: usize,
    watch: impl FnMut(&Hunt),
) -> Vec<Hunt> {
    let work = |bug: &Bug| hunt(*bug, seeds.clone().map(Seed::new));
    task::map_in_threads(bugs, thread_count, work, watch)
}

/// Runs a plan with `bug` at its seam.
///
/// # Panics
///
/// Within a tokio runtime.
pub fn run(plan: &Plan, bug: Bug) -> Outcome {
    run_into(plan, bug, None)
}

/// Runs a plan with `bug` at its seam, and gives the observations to a sink.
///
/// # Panics
///
/// Within a tokio runtime.
pub fn run_into(plan: &Plan, bug: Bug, sink: Option<&SharedSink>) -> Outcome {
    let subject = |parts: SubjectParts<'_>| subjects::informer_with(parts, Some(bug));
    let options = RunOptions::default().with_sink(sink).with_bug(bug);
    sim::run(plan, &options.with_subject(&subject))
}

fn checkers(outcome: &Outcome) -> Vec<&'static str> {
    let mut caught = BTreeSet::new();
    let names = outcome.violations.iter().map(|violation| violation.checker);
    names.filter(|name| caught.insert(*name)).collect()
}

#[cfg(test)]
mod tests;
