//! Looks for a bug by the seeds.

use std::{
    collections::BTreeSet,
    ops::Range,
    sync::{Mutex, PoisonError, mpsc},
    thread,
};

use super::Bug;
use crate::{
    checkers::Violation,
    plan::Plan,
    seed::Seed,
    sim::{self, Outcome},
    subjects,
};

/// What came of the search for one bug.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hunt {
    /// The bug.
    pub bug: Bug,
    /// How many seeds were run.
    pub seed_count: u64,
    /// How it was caught; `None` if it got away.
    pub catch: Option<Catch>,
}

/// How a bug was caught.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Catch {
    /// The first seed that shows it.
    pub seed: Seed,
    /// The checkers that found something, the one that speaks first in front.
    pub checkers: Vec<&'static str>,
    /// What was found first.
    pub violation: Violation,
}

// === impl Catch ===

impl Catch {
    /// Who caught it, in words.
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

/// Hunts several bugs in `thread_count` threads, each by all `seeds`; gives them in their order. `watch` hears of each hunt
/// that ends.
pub fn hunts(
    bugs: &[Bug],
    seeds: &Range<u64>,
    thread_count: usize,
    mut watch: impl FnMut(&Hunt),
) -> Vec<Hunt> {
    let next = Mutex::new(bugs.iter().copied().enumerate());
    let (sender, results) = mpsc::channel();
    let mut found: Vec<(usize, Hunt)> = Vec::new();
    thread::scope(|scope| {
        for _ in 0..thread_count.max(1) {
            let (next, sender) = (&next, sender.clone());
            scope.spawn(move || {
                let take = || next.lock().unwrap_or_else(PoisonError::into_inner).next();
                while let Some((place, bug)) = take() {
                    let hunt = hunt(bug, seeds.clone().map(Seed::new));
                    // Nobody waits for it if the receiver is gone.
                    let _ = sender.send((place, hunt));
                }
            });
        }
        drop(sender);
        for (place, hunt) in results {
            watch(&hunt);
            found.push((place, hunt));
        }
    });
    found.sort_by_key(|(place, _)| *place);
    found.into_iter().map(|(_, hunt)| hunt).collect()
}

/// Runs a plan with `bug` at its seam.
///
/// # Panics
///
/// Within a tokio runtime.
pub fn run(plan: &Plan, bug: Bug) -> Outcome {
    sim::run_with(plan, &|parts| subjects::informer_with(parts, Some(bug)))
}

fn checkers(outcome: &Outcome) -> Vec<&'static str> {
    let mut told = BTreeSet::new();
    let names = outcome.violations.iter().map(|violation| violation.checker);
    names.filter(|name| told.insert(*name)).collect()
}
